"""What the tests over all commands type: each option for real, each command in every situation, and with the names of
others."""

from collections.abc import Sequence

JUDGED = (0, 1, 5)
"""How late this machine is now is not what is asked here."""
UNTIL = ("--until-decided", "--horizon", "1ms", "--at-most", "20s")

OptionCall = tuple[str, Sequence[int]]
OPTIONS: dict[str, Sequence[OptionCall]] = {
    "advise": (
        ("advise --dry-run --json --load none --set timer=timerfd --quantile max --seed 3 --no-wait", (0, 3)),
        (
            "advise --knobs stat_interval --pairs 8 --cell-duration 100ms --quantile 0.5 --no-wait --out a -o a.html",
            (0, 3, 5),
        ),
    ),
    "calibrate": (
        (
            "calibrate --kinds fifo-task --count 10 --above 100us --seed 2 --events few --out c --json",
            (0, 1, 3, 4, 5),
        ),
    ),
    "check": (
        (
            "check --duration 1s --period 500us --priority 80 --warm-up 10ms --load none,cpu:5 --deadline 200us "
            "--cpus 0 --out c --no-wait --histogram --brief",
            JUDGED,
        ),
        (
            "check --long --no-wait --json --policy other --target local --set timer=timerfd --load none",
            JUDGED,
        ),
        ("check -D 1s --no-wait --threshold 1us", (1,)),
        ("check --cell-duration 100ms --scale 0.5 --most-cells 9 --dry-run --policy other", (0,)),
        ("check --resume --seeds 2 --policy other", (2,)),
        (
            "check -D 1s --no-wait --deadline 200us --miss-rate 0.5 --until-decided --horizon 1ms --at-most 20s "
            "--cluster 2",
            JUDGED,
        ),
        ("check -D 1s --no-wait --deadline 1us --until-decided --miss-rate 1e-2", JUDGED),
        ("check -D 1s --no-wait --rounds 2 --every 1s", (0,)),
    ),
    "compare": (
        ("compare r s=s --by load --deadline 1ms --json -o c.html", (0,)),
        ("compare r s=s --by load --all", (0,)),
    ),
    "completion": (("completion bash", (0,)),),
    "doctor": (
        ("doctor --run r --all", (0,)),
        ("doctor --target local --json", (0,)),
        ("doctor --restore", (0,)),
    ),
    "export": (
        ("export r --format csv --with-parameters -o r.csv", (0,)),
        ("export r --format text3 --cell CELL -o -", (0,)),
    ),
    "history": (
        (
            "history r s --label load=none --statistic max --margin 0.2 --fail-on worse -o h.html --index",
            (0,),
        ),
        ("history --machine 1 --json --no-index", (0, 2)),
        ("history r s --all", (0,)),
        ("history r s --brief", (0,)),
    ),
    "import": (
        ("import cyclictest-2.10.txt --format cyclictest --label board=left --out i --json", (0, 5)),
        ("import samples.csv --brief --map latency_us=latency_us --out j", (0, 2, 5)),
        ("import howlate.ini -o out.toml", (0, 2)),
    ),
    "plan": (
        (
            "plan --miss-rate 1e-3 --true-rate 1e-4 --period 1ms --horizon 1s --ratio 1.5 --cell-duration 1s "
            "--cluster 2 --deadline 200us --confidence 0.9 --json",
            (0,),
        ),
    ),
    "probe": (("probe cyclic --duration 10ms --policy other", (0,)),),
    "query": (("query SELECT(1) r --index --csv", (0,)), ("query SELECT(1) r --no-index --json", (0,))),
    "reference": (("reference", (0,)),),
    "reference audit": (("reference audit --json", (0,)),),
    "reference list": (("reference list --json", (0,)),),
    "reference show": (("reference show tut-2017 --json", (0,)),),
    "report": (
        ("report r -o r.html --axis latency=0:1ms,linear --axes own --by load --format html", (0,)),
        ("report r --format svg -o pictures --json", (0,)),
    ),
    "run": (
        (
            "run mine.toml --set deadline=1us --scale 0.5 --out t --no-wait --most-cells 9 --histogram --json",
            JUDGED,
        ),
        ("run mine.toml --target local --no-wait --resume --brief", (0, 2)),
        ("run mine.toml --dry-run", (0,)),
        ("run mine.toml --no-wait --rounds 2 --every 1s", JUDGED),
        (
            f"run mine.toml --no-wait --set deadline=1us --miss-rate 0.5 --cluster 2 {' '.join(UNTIL)}",
            JUDGED,
        ),
        ("run mine.toml --emit-job job --target-arch x86_64", (0,)),
        ("run mine.toml --seeds 2", (2,)),
        (
            "run mine.toml --dry-run --period 2ms --policy rr --priority 9 --load none --cpus 0 --deadline 1ms "
            "--warm-up 10ms -D 1s",
            (0, 3),
        ),
        ("run mine.toml --dry-run --cell-duration 1s", (0,)),
    ),
    "settings": (("settings cyclic --json", (0,)), ("settings --defaults", (0,)), ("settings --all", (0,))),
    "show": (
        ("show r --cells --histogram", (0,)),
        ("show r --verify", (0,)),
        ("show r --json", (0,)),
        ("show r --brief", (0,)),
        ("show r --configs --all", (2,)),
    ),
    "studies": (("studies --json", (0,)),),
    "top": (
        (
            "top -D 2s --no-wait --period 2ms --priority 80 --warm-up 10ms --load none --deadline 200us --cpus 0 "
            "--out t --histogram --brief",
            JUDGED,
        ),
        ("top --cell-duration 500ms -D 20s --no-wait --json --threshold 1us --set timer=timerfd", (1,)),
        ("top --policy other --scale 0.5 --most-cells 400 --dry-run", (0,)),
        ("top --resume --seeds 2 --policy other", (2,)),
    ),
    "studies show": (("studies show check --json", (0,)),),
    "verdict": (
        (
            "verdict r --deadline 1ms --miss-rate 0.1 --horizon 1ms --confidence 0.9 --cluster 2 --extrapolate",
            JUDGED,
        ),
        ("verdict r --deadline 1ms --junit j.xml --summary s.md --json --all", JUDGED),
        ("verdict r --deadline 1ms --brief", JUDGED),
    ),
    "why": (
        ("why r --all --worst 1 -o why.html", (0,)),
        ("why r --json --from events", (0,)),
        (
            "why r --against 6.1 --stacks s.txt --speedscope s.json --debuginfo . --own-kernel mine=mine.toml "
            "--module . --mirror http://localhost --keyring mine.toml --refresh",
            (2,),
        ),
        ("why r --try --pairs 6 --cell-duration 100ms --out w", (0, 2, 3, 5)),
    ),
}
"""By command; the words are those that a user types. Options that are refused here on purpose are those of the lab
(--seeds, --kernels --all), which tests/lab/test_every_option.py gives to its guests."""

CHECK = "check --duration 1s --no-wait"
TOP = "top -D 1s --no-wait"
RUN = "run mine.toml --no-wait"
ADVISE = "advise --load none --pairs 7 --no-wait --out NEW"
LAB_RUN = "lab run mine.toml --kernels 6.1 --seeds 2 --out NEW"
OF_SITUATIONS: dict[str, dict[str, str]] = {
    "advise": {
        "pass": f"{ADVISE} --knobs cpu_dma_latency",
        "usage": "advise --pairs 1",
        "impossible": "advise --knobs governor",
        "broken": "broken: advise --load cpu:50 --pairs 7 --no-wait --out NEW --knobs cpu_dma_latency",
    },
    "calibrate": {
        "usage": "calibrate --count 1",
    },
    "check": {
        "pass": f"steady: {CHECK} --deadline 200us",
        "fail": f"{CHECK} --deadline 1us",
        "open": f"{CHECK} --deadline 1100ns",
        "usage": "check --duration 0",
        "broken": f"broken: {CHECK} --deadline 1ms",
    },
    "compare": {
        "pass": "compare kept late",
        "open": "compare partly late",
        "usage": "compare absent",
        "broken": "compare damaged",
    },
    "completion": {"pass": "completion bash", "usage": "completion csh"},
    "doctor": {"pass": "doctor", "usage": "doctor --run absent", "broken": "doctor --run damaged"},
    "export": {
        "pass": "export kept --format text3 -o -",
        "open": "export partly --format text3 -o -",
        "usage": "export absent --format csv",
        "broken": "export damaged --format csv",
    },
    "history": {
        "pass": "history kept late",
        "fail": "history worse --fail-on worse",
        "open": "history kept partly",
        "usage": "history --statistic none",
        "broken": "history kept damaged",
    },
    "import": {
        "pass": "import kept.stream --out NEW",
        "fail": "import late.stream --out NEW",
        "open": "import open.stream --out NEW",
        "usage": "import absent",
        "broken": "import damaged.stream --out NEW",
    },
    "lab bisect": {
        "usage": "lab bisect mine.toml",
        "broken": "lab bisect mine.toml --good 6.1 --bad 6.12 --limit 1ms --mirror NOWHERE",
    },
    "lab clean": {"pass": "lab clean", "usage": "lab clean all"},
    "lab fetch": {
        "pass": "lab fetch 6.1 --mirror MIRROR",
        "usage": "lab fetch nothing",
        "broken": "lab fetch 6.1 --mirror NOWHERE",
    },
    "lab kernels": {
        "pass": "lab kernels --mirror MIRROR",
        "usage": "lab kernels --keyring absent",
        "broken": "lab kernels --mirror NOWHERE",
    },
    "lab prove": {
        "usage": "lab prove mine.toml",
        "broken": "lab prove --kernels 6.1 --mirror NOWHERE",
    },
    "lab run": {
        "pass": f"lab: {LAB_RUN} --set deadline=1s",
        "fail": f"lab: {LAB_RUN} --set deadline=1us",
        "open": f"lab interrupted: {LAB_RUN}",
        "usage": "lab run mine.toml --seeds 0",
        "impossible": f"lab refused: {LAB_RUN}",
        "broken": f"lab broken: {LAB_RUN}",
    },
    "lab why": {"usage": "lab why absent", "broken": "lab why damaged"},
    "plan": {"pass": "plan --miss-rate 1e-3", "usage": "plan"},
    "probe": {},
    "query": {
        "pass": "query SELECT\t1 kept",
        "open": "query SELECT\t1 partly",
        "usage": "query SELECT\tnothing kept",
        "broken": "query SELECT\t1 damaged kept",
    },
    "reference": {"pass": "reference", "usage": "reference show nothing"},
    "reference audit": {"pass": "reference audit", "usage": "reference audit nothing"},
    "reference list": {"pass": "reference list", "usage": "reference list nothing"},
    "reference show": {"pass": "reference show tut-2017", "usage": "reference show nothing"},
    "report": {
        "pass": "report kept",
        "open": "report partly",
        "usage": "report absent",
        "broken": "report damaged",
    },
    "run": {
        "pass": f"steady: {RUN} --set deadline=200us",
        "fail": f"{RUN} --set deadline=1us",
        "open": f"{RUN} --set deadline=1100ns",
        "usage": f"{RUN} --set perid=1ms",
        "impossible": f"no-fifo: {RUN}",
        "broken": f"broken: {RUN}",
    },
    "settings": {"pass": "settings", "usage": "settings nothing"},
    "show": {
        "pass": "show kept",
        "open": "show partly",
        "usage": "show absent",
        "broken": "show damaged",
    },
    "studies": {"pass": "studies", "usage": "studies nothing"},
    "studies show": {"pass": "studies show check", "usage": "studies show chek"},
    "top": {
        "pass": f"steady: {TOP} --deadline 200us",
        "fail": f"{TOP} --deadline 1us",
        "open": f"{TOP} --deadline 1100ns",
        "usage": "top --duration 0",
        "broken": f"broken: {TOP} --load none,hackbench --deadline 1ms",
    },
    "verdict": {
        "pass": "verdict kept",
        "fail": "verdict late",
        "open": "verdict kept --horizon 30min",
        "usage": "verdict kept --deadline 200",
        "broken": "verdict damaged",
    },
    "why": {
        "pass": "why kept",
        "open": "why partly",
        "usage": "why absent",
        "broken": "why damaged",
    },
}
"""What is typed, behind the stand-in's mode where that matters. A situation that is missing does not exist for the
command, or is one of GUESTS."""

WITH_NAMES: dict[str, tuple[str, ...]] = {
    "advise": ("advise --dry-run --out NAME/a --no-wait", "advise --dry-run -o NAME"),
    "calibrate": ("calibrate --kinds fifo-task --count 0 --out NAME", "calibrate --kinds NAME"),
    "check": ("check --out NAME/file/c", "check --cpus NAME", "check --out RUN"),
    "top": ("top --out NAME/file/c", "top --cpus NAME", "top --out RUN"),
    "compare": (
        "compare NAME",
        "compare RUN RUN",
        "compare a=RUN NAME=RUN",
        "compare RUN --by NAME",
        "compare RUN RUN -o NAME/x",
    ),
    "completion": ("completion NAME",),
    "doctor": ("doctor --run NAME", "doctor --run RUN", "doctor --target NAME", "doctor --target ssh:NAME"),
    "export": (
        "export NAME",
        "export RUN --format csv -o NAME.csv",
        "export RUN --format perfetto -o NAME",
        "export RUN --format parquet -o NAME/x/y",
        "export RUN --format csv --cell NAME",
        "export RUN --format sh7780 -o NAME",
    ),
    "history": ("history NAME", "history RUN", "history RUN -o NAME.html", "history --label NAME=x"),
    "import": (
        "import NAME",
        "import FILE",
        "import FILE --format cyclictest --out RUN",
        "import FILE --format NAME",
        "import CYCLIC --out NAME/file/i",
        "import CYCLIC --label a=NAME --out i",
        "import INI -o NAME/x/y",
        "import CYCLIC --deadline 1ms",
    ),
    "lab bisect": (
        "lab bisect NAME --revisions NAME",
        "lab bisect STUDY --module NAME --keyring NAME --out NAME",
        "lab bisect STUDY --revisions FILE --good NAME --bad y",
    ),
    "lab clean": ("lab clean",),
    "lab fetch": ("lab fetch NAME", "lab fetch 6.1 --mirror NAME", "lab fetch 6.1 --keyring NAME"),
    "lab kernels": ("lab kernels --mirror NAME", "lab kernels --keyring NAME"),
    "lab prove": (
        "lab prove STUDY --own-kernel NAME",
        "lab prove NAME",
        "lab prove STUDY --own-kernel FILE --module NAME --keyring NAME -o NAME",
    ),
    "lab run": (
        "lab run NAME",
        "lab run STUDY --own-kernel NAME",
        "lab run STUDY --own-kernel FILE --out NAME",
        "lab run STUDY --probe NAME",
        "lab run STUDY --module NAME --keyring NAME",
    ),
    "lab why": (
        "lab why NAME",
        "lab why RUN",
        "lab why RUN none -o NAME",
        "lab why RUN NAME --own-kernel NAME --module NAME --stacks NAME --speedscope NAME "
        "--debuginfo NAME --keyring NAME",
    ),
    "plan": ("plan --deadline NAME",),
    "probe": ("probe NAME", "probe cyclic --stream=NAME/x/y"),
    "query": ("query SELECT(1) NAME", "query NAME RUN", "query SELECT(1) RUN --index", "query 'x' RUN"),
    "reference": ("reference NAME",),
    "reference audit": ("reference audit NAME",),
    "reference list": ("reference list NAME",),
    "reference show": ("reference show NAME", "reference show tut-2017 NAME"),
    "report": (
        "report NAME",
        "report RUN -o NAME.html",
        "report RUN RUN -o NAME/x/y.html",
        "report RUN --axis NAME=x",
        "report RUN --format svg -o NAME",
    ),
    "run": (
        "run NAME",
        "run STUDY --dry-run",
        "run STUDY --out RUN",
        "run STUDY --out NAME --no-wait",
        "run STUDY --out NAME/file/t --no-wait",
        "run STUDY --emit-job NAME",
        "run STUDY --emit-job RUN",
        "run STUDY --target NAME",
        "run STUDY --set NAME=1",
        "run BAD --dry-run",
    ),
    "settings": ("settings NAME", "settings"),
    "show": (
        "show NAME",
        "show RUN",
        "show RUN --json",
        "show RUN --verify",
        "show RUN --configs",
        "show RUN RUN",
    ),
    "studies": ("studies",),
    "studies show": ("studies show NAME", "studies show STUDY", "studies show BAD"),
    "verdict": (
        "verdict NAME",
        "verdict RUN --deadline 1ms",
        "verdict RUN --deadline NAME",
        "verdict NODEADLINE",
        "verdict RUN --deadline 1ms --junit NAME.xml --summary NAME/x/y",
    ),
    "why": (
        *("why NAME", "why RUN", "why RUN NAME", "why RUN -o NAME/x/y", "why RUN --try --out NAME"),
        "why RUN NAME --own-kernel NAME --module NAME --stacks NAME --speedscope NAME "
        "--debuginfo NAME --keyring NAME",
    ),
}
"""By command. RUN, FILE, STUDY, BAD are of that name, NAME is not there."""
