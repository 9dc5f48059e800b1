"""What benchmarks/nasty.py works on: hand-chosen lines, values to draw from, and files."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

SMALL = "--set rows=5 --set cols=5 --set iterations=5 --episodes 22"
NUMBERS = [
    "-1", "0", "1", "2", "3", "0.5", "-0.5", "1e400", "-1e400", "nan", "NaN", "inf", "-inf",
    "1e-300", "999999999999999999999999", "-99999999999999999999", "9" * 5000, "0x10", "1_000",
    "1,2", "1..2", "2..1", "1..", "..", "..5", "2..999999999", "1e3", "½", "٣", "一", "+5", " 7 ",
    "5%", "1/3", "--", "9223372036854775807", "9223372036854775808", "18446744073709551616", "1e18",
    "4294967296",
]  # fmt: skip
TEXTS = [
    "", " ", "\t", "\n", "\\", "'", '"', "%s%n", "{0}", "{}", "$(id)", "`id`", "=1+2", "@SUM(A1)",
    "\x1b[2Jgone", "\x1b]0;title\x07", "\x7f", "\u202eevil", "\u200b", "\ufeff", "é" * 300, "🧠",
    "Ω≈ç", "a" * 100_000, "(" * 3000, ")" * 3000, "a(" * 2000 + "b" + ")" * 2000, "x*999999999",
    "a*0", "random*1000000000", "*", "a=b", "a=", "=b", "a:b", ":", ":b", "a:", "a,b", ",", ",,",
    "-", "--", "...", "None", "null", "true", "__import__", "../../etc", "a/b", "~", "~root",
    "C:\\x", "random()", "random(", "random)", "random(x=1)", "random(random(random))",
    "random, random", "\udcff", "q-learning(alpha=nan)", "q-learning(alpha=1e400)",
    "q-learning(alpha=)", "tree(random*99999)", "postgresql://u:p@[::1", "postgresql://",
    "sqlite:///x", "http://[", "tcp://", "tcp://nohost:1", "file:///etc/passwd", "os:system",
    "builtins:exit", "sys:exit", "this:x", "antigravity:x", "a.b.c:d",
]  # fmt: skip
PATHS = [
    ".", "..", "/", "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/proc/self/mem", "/etc",
    "missing", "missing/missing", "empty", "folder", "binary", "utf16.csv", "nul.csv", "fifo",
    "loop", "locked", "locked/x", "blank", "mine.py", "bad.py", "out", "x" * 300, "x/" * 3000,
    "a\x1bb", "good.csv", "empty.csv", "head.csv", "texts.csv", "nan.csv", "huge.csv", "twice.csv",
    "wide.csv", "broken.parquet", "broken.eval", "good.jsonl", "broken.jsonl", "broken.db",
    "study.db", "study.toml", "plan.toml", "bomb.toml", "deep.toml", "number.toml", "types.toml",
    "many.toml", "names.toml", "run", "run-plan", "run-empty", "run-parts", "run-sums", "run-json",
    "run-other", "run/plan.json", "out.csv", "out.svg", "out.png", "out.parquet", "out.jsonl",
    "out.html", "run/records", "big.toml",
]  # fmt: skip
PLANS = (
    "bomb.toml", "deep.toml", "number.toml", "types.toml", "many.toml", "names.toml", "empty",
    "binary", "folder", "fifo", "/dev/zero", "/dev/full", "/proc/self/mem", "loop", "missing",
    "blank", "big.toml", "''", "battery2", "~", "$HOME", "good.csv", "bell.toml", "twice.toml",
    "long.toml", "nan.toml", "none.toml",
)  # fmt: skip
RUNS = ("run-plan", "run-empty", "run-parts", "run-sums", "run-json", "run-other")
TABLES = ("nul.csv", "nan.csv", "huge.csv", "texts.csv", "broken.db", "fifo", "/dev/zero")
READERS = (
    "report {}", "compare {}", "replay {} --exercise 1", "export {} out.csv", "plan-size {}",
    "report run {} -o out.html", "compare run {}",
)  # fmt: skip
IMPORTED = (
    "empty.csv", "head.csv", "texts.csv", "nan.csv", "huge.csv", "twice.csv", "wide.csv",
    "utf16.csv", "nul.csv", "broken.parquet", "broken.eval", "broken.jsonl", "binary", "folder",
    "fifo.csv", "/dev/zero", "missing.csv", "formula.csv", "quotes.csv",
)  # fmt: skip
LINES = [
    "", "-h", "--help", "--version", "--", "-", "---", "-m", "--no-such", "no-such-verb", "RUN",
    "\x1b[31m", "run run", "help", "run --help --json", "study", "make", "study study", "make make",
    # numbers without end
    "evaluate lambda-star -m random --set k=2..999999999",
    f"evaluate lambda-star -m random --set k=2..{'9' * 5000}",
    f"evaluate lambda-star -m random --set rows={'9' * 5000}",
    "evaluate lambda-star -m random --set rows=999999999 --episodes 1",
    "evaluate lambda-star -m random --set rows=100000 --set cols=100000 --episodes 1",
    "evaluate lambda-star -m random --set iterations=999999999999 --episodes 1",
    "evaluate lambda-star -m random --set agents=999999999 --episodes 1",
    "evaluate lambda-star -m random*999999999 --episodes 1",
    "evaluate lambda-star -m 'tree(random*999999999)' --episodes 1",
    "evaluate lambda-star -m random --episodes 1000000000000",
    "evaluate lambda-star -m random --episodes 99999999999999999999",
    "evaluate lambda-star -m random --episodes -1", "evaluate lambda-star -m random --episodes nan",
    "evaluate lambda-star -m random --episodes 0", "evaluate lambda-star -m random --seed -1",
    f"evaluate lambda-star -m random {SMALL} --seed 99999999999999999999",
    f"evaluate lambda-star -m random {SMALL} --seed 9223372036854775807",
    f"evaluate lambda-star -m random {SMALL} --jobs 999999999",
    f"evaluate lambda-star -m random {SMALL} --jobs -1",
    f"evaluate lambda-star -m random {SMALL} --time-limit nan",
    f"evaluate lambda-star -m random {SMALL} --time-limit 1e400",
    f"evaluate lambda-star -m random {SMALL} --time-limit 0",
    f"evaluate lambda-star -m random {SMALL} --max-cost nan",
    f"evaluate lambda-star -m random {SMALL} --max-cost -1",
    f"evaluate lambda-star -m random {SMALL} --price nan/nan",
    f"evaluate lambda-star -m random {SMALL} --price 1e400/1 --max-cost 1",
    "evaluate c-test -m random --set form=generated --set k=2..999999999",
    "evaluate c-test -m random --episodes 999999999999", "evaluate c-test -m random --set form=",
    "evaluate lambda -m random --set cells=999999999 --episodes 1",
    "evaluate lambda -m random --set cells=2..999999999 --episodes 1",
    "evaluate lambda-anytime -m random --set cells=999999999 --episodes 1",
    "evaluate landscape -m random --set n=999999999 --episodes 1",
    "evaluate landscape -m random --set k=999999999 --episodes 1",
    "evaluate matrices -m random --set rules=999999999 --episodes 1",
    "evaluate matrices -m random --set options=999999999 --episodes 1",
    "evaluate prisoners-dilemma -m random --set steps=999999999999 --episodes 1",
    "evaluate public-goods -m random --set agents=999999999 --episodes 1",
    "evaluate commons -m random --set steps=999999999999 --episodes 1",
    "evaluate predator-prey -m random --set rows=999999999 --episodes 1",
    "evaluate noughts-and-crosses -m random --set size=999999999 --episodes 1",
    "evaluate pluralistic-ignorance -m random --set agents=999999999 --episodes 1",
    "plan-size --instrument c-test --pilot 1000000000000",
    "plan-size --instrument c-test --pilot -1", "plan-size run --interval 1e-300",
    "plan-size run --interval nan", "plan-size run --interval 0", "plan-size run --difference inf",
    "plan-size run --reliability 2", "plan-size run --rel -1", "plan-size run --assurance nan",
    "plan-size run --assurance 1", "plan-size run --assurance 0.5",
    "plan-size run --reliability .999999999999", "plan-size good.csv --interval .0000001",
    "testbed prisoners-dilemma --episodes 1000000000000 --sampled",
    "testbed prisoners-dilemma --set steps=999999999 --exact",
    "testbed prisoners-dilemma --set steps=40 --exact --minds random,cooperate",
    "testbed prisoners-dilemma --minds random*9999999",
    "testbed prisoners-dilemma --weights nan,nan", "testbed prisoners-dilemma --weights 1e400",
    "testbed prisoners-dilemma --minds ''", "testbed prisoners-dilemma --minds ','",
    "testbed noughts-and-crosses --exact --minds random",
    "testbed predator-prey --exact --minds random --episodes 2", "testbed lambda-star --episodes 2",
    "testbed rock-paper-scissors --budget rel=1", "testbed rock-paper-scissors --budget rel=nan",
    "testbed rock-paper-scissors --budget generalisability=.999999999999999",
    "make matrices --count 1 --out out", "make matrices --count 0 --out out",
    "make matrices --count 2 --out out --rules 99999999999", "make matrices --count -5 --out out",
    "make matrices --count 999999999999 --out x", "make matrices --count 3 --jobs 999999 --out out",
    "make matrices --count 3 --out /dev/null", "make matrices --count 3 --out mine.py",
    "make series --count 999999999999 --out x", "make series --k 7..999999999 --count 5 --out out",
    "make series --k 99 --count 5 --out out", "make series --count 1 --out out",
    "make series --count 3 --k nan --out out", "make series --count 3 --seed -1 --out out",
    "make series --count 3 --seed 99999999999999999999999 --out out",
    "make items c-test --count 1000000000000 --out x", "make items c-test --count -1 --out x",
    "make items c-test --count 3 --out folder", "make items lambda-star --count 3 --out x",
    "make items c-test --count 3 --out /dev/full", "make items mine.py:Mine --out x",
    "make items c-test --count 3 --out missing/x", "make items c-test --seed -1 --out x",
    # the accuracy model
    "crossing 12 12,12,12 --options 99999999999999999999", "crossing 12 12,12,12 --options 2",
    f"crossing 12 13 --options {'9' * 400}", f"crossing 12 13 --options {'9' * 5000}",
    "crossing 12 13 --options 1", "crossing 12 13 --difficulty 0..1e308", "crossing 12 12",
    "crossing 12 13 --difficulty 100..0", "crossing 12 13 --difficulty nan..nan", "crossing nan 1",
    "crossing 12 13 --difficulty 0..inf", "crossing 0 1", "crossing -- -1 1",
    "crossing 1e-300 1e300", f"crossing 12 {','.join(['12'] * 20000)}", "crossing 12 1..999999999",
    "crossing '' ''", f"crossing 12 {','.join(['12'] * 300)} --rule plurality --options 5",
    "crossing 12 13 --rule both", "crossing 12 13 --plot out.txt",
    "crossing 12 13 --plot /dev/full", "crossing 12 13 --plot folder",
    "predict --ability 1e400 --difficulty 5", "predict --ability 11 --difficulty 1..999999999",
    "predict --ability 1..999999999 --difficulty 5",
    "predict --ability 11 --difficulty 5 --options 1",
    "predict --ability 11 --difficulty 5 --options 2..999999999", "predict --difficulty 5",
    "predict --ability 1..2000 --difficulty 1..2000 --options 2..2000",
    "predict --ability nan --difficulty 5", "predict --ability 11 --difficulty nan",
    "predict --ability 0 --difficulty 0", "predict --ability 11 --difficulty -- -5",
    f"predict --ability {'9' * 5000} --difficulty 5", f"predict --ability 11 --options {'9' * 400} "
    "--difficulty 5", "predict --levels 5..9 --hits 20,19,16,11,6 --trials 20 --difficulty 1e300",
    "predict --levels 5..9 --hits 20,19,16,11,6 --trials 5 --difficulty 10",
    "predict --levels 5..9 --hits 1e300,1,1,1,1 --trials 1e300 --difficulty 10",
    "predict --levels 9..5 --hits 1,1,1,1,1 --trials 2 --difficulty 10",
    "predict --levels 1..999999999 --hits 1 --trials 2 --difficulty 10",
    "predict --levels 5 --hits 1 --trials 2 --difficulty 10", "predict --levels 5,5 --hits 1,1 "
    "--trials 2 --difficulty 10",
    "predict --levels 5..9 --hits -1,0,0,0,0 --trials 2 --difficulty 9",
    "predict --levels 5..9 --hits 2,2,2,1,1 --trials 2 --difficulty 10 --items 999999999999999",
    "predict --levels 5..9 --hits 0,0,0,0,0 --trials 0 --difficulty 10",
    "predict --levels 5..9 --hits 999999999999,1,1,1,1 --trials 999999999999 --difficulty 10",
    "vote 0.5", "vote nan", "vote inf 0.5", "vote 1.5 0.5", "vote", "vote 0.5 0.5 --options -1",
    "vote 0.4 0.5 --options 99999999999999999999 --rule plurality", "vote 0.5 0.5 --correlation 1",
    f"vote {' '.join(['0.5'] * 20000)}",
    f"vote {' '.join(['0.5'] * 400)} --rule plurality --options 4",
    f"vote {' '.join(['0.6'] * 60)} --weights {','.join(map(str, range(1, 61)))}",
    f"vote {' '.join(['0.6'] * 2000)} --correlation .3", "vote 0.5 0.5 --correlation nan",
    f"vote {' '.join(['0.6'] * 40)} --weights {','.join(str(2**n + .1) for n in range(40))}",
    "vote 0.5 0.5 --correlation 2", "vote 0.5 0.5 --weights 1", "vote 0.5 0.5 --weights nan,1",
    "vote 0.5 0.5 --weights -1,1", "vote 0.5 0.5 --ties both", "vote 0.5 --rule ''",
    "vote 0.5 0.5 --weights 1e308,1e308", "vote 0 1 0 1", "vote 1e-320 0.5 0.5",
    "select --mind a=12:1 --task 5 --threshold nan",
    "select --mind a=12:nan --task 5 --threshold .5",
    "select --mind a=12:1 --task nan --threshold .5",
    "select --mind a=nan:1 --task 5 --threshold .5",
    "select --mind a=12:-1 --task 5 --threshold .5", "select --mind a --task 5 --threshold .5",
    "select --mind a=12:1 --task 5 --threshold .5 --group 999999999",
    "select " + " ".join(f"--mind m{n}={n + 2}:{n + 1}" for n in range(60)) + " --task 9 "
    "--threshold .99 --group 30", "select --mind a=12:1 --mind a=13:1 --task 5 --threshold .5",
    "select --mind a=12:1 --task 5 --threshold .5 --options 99999999999999999999",
    "select --mind a=12:1 --task 1e308 --threshold .5", "select --task 5 --threshold .5",
    "complexity ''", f"complexity {'ab' * 50000}", f"complexity {'abcd' * 200} --measure levin",
    "complexity abc --measure levin", "complexity abcdefghijklmnopqrstuvwxyz --measure levin",
    "complexity ABC --measure levin", "complexity '\x1b\x1b' ", "complexity 🧠🧠 --measure levin",
    "complexity a --measure ''", "complexity , ", "complexity abcabc --plot out.gif",
    f"complexity {'abc' * 3000} --plot out.svg", "complexity a,a,b --measure levin",
    "complexity z --measure levin", f"complexity {'z' * 40} --measure levin",
    # minds
    "evaluate lambda-star -m \x1b[31mred\x1b[0m", "evaluate \x1b]0;title\x07 -m random",
    f"evaluate lambda-star -m {'a(' * 3000}b{')' * 3000}", f"evaluate lambda-star -m {'(' * 3000}",
    f"evaluate lambda-star -m {'tree(' * 40}random{')' * 40} {SMALL}",
    f"evaluate lambda-star -m 'tree(tree(random*2)*2)' --set agents=4 {SMALL}",
    f"evaluate prisoners-dilemma -m '{','.join(['random'] * 5000)}' --episodes 2",
    "evaluate lambda-star -m mine.py:Mine -m mine.py:Mine",
    "evaluate lambda-star -m mine.py:Nobody", f"evaluate lambda-star -m mine.py:Mine {SMALL}",
    f"evaluate lambda-star -m wrong.py:Wrong {SMALL}",
    f"evaluate lambda-star -m wrong.py:number {SMALL}",
    f"evaluate lambda-star -m wrong.py:loud {SMALL}",
    f"evaluate lambda-star -m wrong.py:quits {SMALL}",
    f"evaluate lambda-star -m wrong.py:deep {SMALL}",
    f"evaluate lambda-star -m wrong.py:huge {SMALL}",
    f"evaluate lambda-star -m wrong.py:nan {SMALL}",
    f"evaluate lambda-star -m wrong.py:loud {SMALL} --strict",
    f"evaluate lambda-star -m wrong.py:none " f"{SMALL} --json",
    "evaluate lambda-star -m bad.py:Mine", "evaluate lambda-star -m quit.py:Mine",
    "evaluate lambda-star -m raise.py:Mine", "evaluate lambda-star -m missing.py:Mine",
    "evaluate lambda-star -m folder:Mine", "evaluate lambda-star -m binary:Mine",
    "evaluate lambda-star -m nul.py:Mine", "evaluate lambda-star -m /dev/zero:Mine",
    "evaluate lambda-star -m locked.py:Mine", "evaluate lambda-star -m fifo.py:Mine",
    "evaluate lambda-star -m os:system", "evaluate lambda-star -m 'program(false)' --episodes 3",
    "evaluate lambda-star -m 'program(no-such-program)' --episodes 3", "evaluate lambda-star -m "
    "'program(yes)' --episodes 1 --time-limit 1",
    "evaluate lambda-star -m 'program(cat)' --episodes 3",
    "evaluate lambda-star -m 'policy(missing.zip)' --episodes 3",
    "evaluate lambda-star -m 'policy(binary)' --episodes 3", "evaluate lambda-star -m 'llm()'",
    "evaluate lambda-star -m 'llm(nobody/nothing)' --episodes 2", "evaluate c-test -m 'llm(x/y)' "
    "--dry-run --episodes 2", "evaluate mine.py:Mine -m random", "evaluate mine.py -m random",
    "evaluate '' -m random", "evaluate . -m random", "evaluate lambda-star -m ''",
    "evaluate lambda-star --against random", "evaluate axelrod:tit-for-tat -m random",
    f"evaluate lambda-star -m random {SMALL} --plot /dev/full",
    "evaluate c-test -m mode --plot x.pdf", "evaluate c-test -m mode --plot missing/x.svg",
    f"evaluate lambda-star -m random {SMALL} --engine ''",
    f"evaluate lambda-star -m random {SMALL} --engine tcp://127.0.0.1:1",
    f"evaluate lambda-star -m random {SMALL} --engine tcp://[::1", "evaluate lambda-star --set =1",
    "evaluate lambda-star -m random --set rows=5 --set rows=6 --episodes 22",
    "evaluate lambda-star -m random --set 'rows=__import__(\"os\")'", "evaluate matrices -m random "
    "--set drawing=../../x --episodes 2", "evaluate c-test -m random --set =", "evaluate",
    # plans and runs
    *(f"run {name}" for name in PLANS),
    "run plan.toml --out run", "run plan.toml --out mine.py", "run plan.toml --out /dev/null/x",
    "run plan.toml --out /proc/x", f"run plan.toml --out {'x' * 300}",
    "run plan.toml --mind nobody", "run plan.toml --mind quit.py:Mine --out out",
    "run plan.toml --mind wrong.py:loud --out out", "run plan.toml --only nothing --out out",
    "run plan.toml --episodes 1000000000000 --out out", "run plan.toml --seed -1 --out out",
    "run plan.toml --seed 99999999999999999999 --out out",
    *(f"run --resume {name}" for name in (*RUNS, "run", "fifo", "''", "/dev/null", "loop")),
    *(line.format(name) for line in READERS for name in (*RUNS, *TABLES)),
    "replay run --exercise 99999999999999999999999", "replay run --exercise 1 --test 999999999999",
    "replay run --exercise 1 --mind ''", "replay run --exercise -1", "compare run --seed -1",
    "compare run --margin nan", "compare run --margin -1", "compare run --margin 1e400",
    "compare run --by nothing", "compare run --unit ''", "compare run --mind nobody",
    "compare run --baseline ''", "compare run --instrument ''", "compare run run",
    "compare run good.csv", "compare run --budget rel=2", "compare run --budget =",
    "compare run --plot x", "report run run", "report run --weights c-test=nan",
    "report run --weights =", "report run --weights a=b", "report run --weights lambda-star=-1",
    "report run --weights lambda-star=1e400", "report run -o run", "report run -o /dev/full",
    "report run -o missing/x.html", "report study.db", "compare study.db run",
    "import good.csv --out run", "import good.csv --out /dev/null",
    "import good.csv --format nothing --out out",
    "import good.csv --format lambda-2011 --out out", "import good.csv --format inspect "
    "--out out", "import good.csv --format parquet --out out", "import good.jsonl --out out",
    *(f"import {name} --out out" for name in IMPORTED),
    "export good.csv out.xlsx", "export good.csv /dev/full", "export good.csv missing/out.csv",
    "export good.csv folder", "export formula.csv out.csv", "export run run", "export run ''",
    # studies
    "study invite postgresql://u:p@[::1 --count 1", "study invite postgresql:// --count 1",
    "study invite postgresql://nobody@127.0.0.1:1/x --count 1", "study invite study.db --count -1",
    "study invite study.db --count 999999999999", "study invite study.db --label ''",
    "study invite study.db --label \x1b[2J", f"study invite study.db --label {'x' * 100000}",
    "study invite study.db --count 1 --url http://[", "study invite study.db --count 1 --url ''",
    "study invite study.db --count 1 --url javascript:alert(1)",
    "study invite study.db --slug nothing", "study invite study.db --count 1 --slug ''",
    "study invite missing.db --count 1", "study invite broken.db --count 1",
    "study invite folder --count 1", "study invite fifo --count 1",
    "study invite /dev/zero --count 1", "study new study.toml",
    "study new study.toml --out study.db", "study new study.toml --out folder",
    "study new study.toml --out missing/x.db", "study new bomb.toml --out x.db",
    "study new deep.toml --out x.db", "study new plan.toml --out x.db",
    "study new binary --out x.db", "study new /dev/zero --out x.db", "study new fifo --out x.db",
    "study new study.toml --out postgresql://u:p@[::1", "study new study.toml --out sqlite:///x.db",
    "study export study.db --out run", "study export study.db --out out", "study export broken.db "
    "--out out", "study withdraw study.db", "study withdraw study.db --label nobody",
    "study withdraw study.db --label \x1b --everybody", "study backup study.db --out study.db",
    "study backup missing.db --out x", "study backup broken.db --out x",
    "study backup study.db --out " "/dev/full", "study restore broken.db --out x.db",
    "study restore study.db --out study.db", "study restore binary --out postgresql://u:p@[::1",
    "study sign study.db x", "study sign study.db " "--key",
    "study simulate study.toml --mind nobody", "study simulate study.toml --participants 0",
    "study simulate study.toml --mind random --participants 999999999999",
    "study simulate broken.db " "--mind random",
    "study simulate study.toml --mind random --participants 1 --database study.db",
    "serve missing.db", "serve broken.db", "serve study.db --port 0", "serve study.db --port 99999",
    "serve study.db --host nowhere.invalid", "serve study.db --url http://[",
    "serve study.db --proxy x", "serve study.db --tls-cert missing --tls-key missing",
    "serve study.db --host 0.0.0.0", "serve postgresql://u:p@[::1", "serve fifo",
    # the rest
    "list mindss", "list ''", "list \x1b", "list minds minds", "list minds --instrument nothing",
    "list minds --instrument ''", "reproduce nothing", "reproduce hilton:", "reproduce :",
    "reproduce ''", "reproduce hilton:nothing", "reproduce insa-cabrera-2011 --rows missing",
    "reproduce hilton --out " "folder", "reproduce hilton --out missing/x.html",
    "calibrate --quick --full", "calibrate --only nothing", "calibrate --repeats 0",
    "calibrate --only 'paired hits' --repeats 3 " "--out folder",
    "calibrate --only 'paired hits' --repeats 3 --seed -1",
]  # fmt: skip
# one quick line for each command, whose words are replaced one by one
SEEDS = [
    f"evaluate lambda-star -m random -m local-search {SMALL} --seed 3 --jobs 1 --json",
    "evaluate c-test -m mode --set form=generated --set k=7..9 --episodes 20 --plot out.svg",
    "evaluate prisoners-dilemma -m tit-for-tat,defect --set steps=5 --episodes 10 --price 1/2",
    "evaluate lambda -m random --episodes 10 --jobs 1 --engine local",
    "evaluate matrices -m random --episodes 5 --jobs 1 --max-cost 1",
    "run plan.toml --mind mine.py:Mine --out out --jobs 1 --engine local",
    "run --resume run --jobs 1", "report run --out out.html --weights lambda-star=1",
    "compare run --mind random --baseline local-search --instrument lambda-star --margin .1",
    "compare good.csv --by level --unit exercise --budget rel=0.9 --plot out.svg",
    "replay run --exercise 1 --mind random --test 1", "import good.csv --out out --format csv",
    "export run out.csv", "export good.csv out.jsonl",
    "plan-size run --interval .1 --assurance 0.8",
    "plan-size --instrument c-test -m mode --pilot 20 --difference .1 --rel .9 --seed 2",
    "testbed rock-paper-scissors --minds random,cycle --weights 1,2 --budget rel=0.9 --seed 2",
    "testbed stag-hunt --sampled --episodes 20 --set steps=5 --plot out.svg",
    "complexity 7,3,4,9,8 --measure lz76 --plot out.svg",
    "complexity abcdabcd --measure levin --json",
    "calibrate --only 'paired hits' --repeats 3 --seed 2 --out out.md",
    "predict --ability 11 --difficulty 5..9 --options 3 --plot out.svg",
    "predict --levels 5..9 --hits 20,19,16,11,6 --trials 20 --difficulty 10..12 --items 5",
    "vote 0.6 0.7 0.8 --rule majority --ties coin --correlation 0.2 --plot out.svg",
    "vote 0.6 0.7 0.8 --weights 1,2,3 --json", "vote 0.4 0.5 --rule plurality --options 4",
    "crossing 12 12,12,12 --options 3 --rule majority --difficulty 0..50 --plot out.svg",
    "select --mind a=12:1 --mind b=20:3 --task 5 --task 8 --threshold 0.7 --group 2 --options 3",
    "make items c-test --set form=generated --count 5 --seed 2 --out out.jsonl",
    "make series --k 7..9 --count 5 --seed 2 --jobs 1 --out out",
    "make matrices --count 3 --seed 2 --jobs 1 --out out", "list minds --json", "list papers",
    "reproduce hilton --out out.html", "study new study.toml --out x.db",
    "study invite study.db --count 2 --label a --url https://study.example.org --slug cells",
    "study export study.db --out out --pooled --external-ids", "study withdraw study.db --label a",
    "study simulate study.toml --mind random --participants 1 --jobs 1 --out out",
    "study backup study.db --out x.db", "study restore study.db --out x.db",
    "study sign study.db a",
]  # fmt: skip
# what a drawn command always gets, so that its work is small unless a value asks for more
ALWAYS = {
    "run": ["plan.toml"], "evaluate": ["--episodes", "5", "--jobs", "1"],
    "calibrate": ["--only", "paired hits", "--repeats", "3"], "reproduce": ["hilton"],
    "serve": ["--host", "nowhere.invalid"], "testbed": ["--episodes", "20"],
    "make matrices": ["--count", "3"], "make series": ["--count", "5"],
    "study simulate": ["--participants", "1"],
}  # fmt: skip
FILES = {
    "mine.py": "class Mine:\n    def act(self, seen, random):\n        return 0\n",
    "bad.py": "class Mine(:\n", "quit.py": "import sys\nsys.exit(3)\n",
    "raise.py": "raise ValueError(chr(27))\n", "nul.py": "x = 1\0\n", "blank": "", "empty.csv": "",
    "wrong.py": (
        "number = 5\nclass Wrong:\n    def __init__(self, a, b, c):\n        pass\n"
        "def loud(seen):\n    raise ValueError('\\x1b[2Jgone\\x07')\n"
        "def quits(seen):\n    raise SystemExit(5)\n"
        "def deep(seen):\n    return deep(seen)\n"
        "def huge(seen):\n    return 10 ** 30\n"
        "def nan(seen):\n    return float('nan')\n"
        "def none(seen):\n    return None\n"
    ),
    "good.csv": "exercise,mind,score,level\n" + "".join(
        f"{n},{who},{(n * 7 + k) % 10 / 10},{n % 3}\n"
        for n in range(30) for k, who in enumerate("abc")),
    "head.csv": "exercise,mind,score\n", "texts.csv": "exercise,mind,score\n1,a,good\n2,b,bad\n",
    "nan.csv": "exercise,mind,score\n1,a,nan\n1,b,inf\n2,a,-inf\n2,b,\n",
    "huge.csv": f"exercise,mind,score\n{'9' * 400},a,{'9' * 400}\n1,b,1e400\n1,a,1e308\n2,b,-1e308",
    "twice.csv": "exercise,mind,score,score\n1,a,0,1\n1,a,0,1\n",
    "wide.csv": ",".join(f"c{n}" for n in range(5000)) + "\n" + ",".join("1" * 5000) + "\n",
    "nul.csv": "exercise,mind,score\n1,\0,0\n1,b,1\n",
    "quotes.csv": 'exercise,mind,score\n1,"a,0\n',
    "formula.csv": "exercise,mind,score\n=1+2,=cmd|'/c calc'!A0,0.5\n1,@SUM(A1),0.25\n",
    "good.jsonl": '{"subject_id": "a", "responses": {"x": 1, "y": 0}}\n',
    "broken.jsonl": '{"subject_id": [' * 5000, "broken.parquet": "PAR1xxxxPAR1",
    "broken.eval": "PK\3\4x",
    "bomb.toml": '[[tests]]\ninstrument = "lambda-star"\nminds = ["{a}{b}{c}{d}{e}{f}"]\n'
    "[tests.words]\n"
    + "".join(f"{x} = {[str(n) for n in range(200)]}\n" for x in "abcdef"),
    "big.toml": '[[tests]]\ninstrument = "lambda-star"\nminds = ["random"]\n[tests.factors]\n'
    + "".join(f"f{k} = [" + f"{{s{k} = 5}}, " * 100 + "]\n" for k in range(6)),
    "deep.toml": f"x = {'[' * 5000}{']' * 5000}\n", "number.toml": f"seed = {'9' * 5000}\n",
    "types.toml": "tests = 5\nseed = 'x'\n", "none.toml": "tests = []\n",
    "nan.toml": "time_limit = nan\n"
    '[[tests]]\ninstrument = "c-test"\nminds = ["mode"]\n',
    "many.toml": '[[tests]]\ninstrument = "c-test"\nminds = ["mode"]\n' * 20_000,
    "names.toml": '[[tests]]\ninstrument = "c-test"\nminds = ["{}", "{x.__class__}", "{x!r}"]\n'
    '[tests.words]\nx = ["a"]\n', "bell.toml": "title = \"\\u001b]0;x\\u0007\"\n[tests]\n",
    "twice.toml": '[[tests]]\ninstrument = "c-test"\nminds = ["mode", "mode"]\n',
    "long.toml": '[[tests]]\ninstrument = "c-test"\nminds = ["mode"]\nepisodes = 1000000000000\n',
    "plan.toml": 'seed = 3\n[[tests]]\ninstrument = "lambda-star"\n'
    'minds = ["random", "local-search"]\n'
    "episodes = 22\n[tests.settings]\nrows = 5\ncols = 5\niterations = 5\n",
}  # fmt: skip


def write_files(where: Path) -> None:
    """Write the files that the lines name: good ones, broken ones, and no files at all."""
    for name, text in FILES.items():
        (where / name).write_text(text, encoding="utf-8")
    rng = random.Random(1)
    for name in ("binary", "broken.db"):
        (where / name).write_bytes(rng.randbytes(5000))
    (where / "broken.db").write_bytes(b"SQLite format 3\0" + rng.randbytes(5000))
    (where / "utf16.csv").write_bytes(FILES["good.csv"].encode("utf-16"))
    (where / "folder").mkdir()
    (where / "empty").mkdir()
    (where / "loop").symlink_to("loop")
    for name in ("fifo", "fifo.py", "fifo.csv"):
        os.mkfifo(where / name)
    (where / "locked").mkdir(mode=0)
    (where / "locked.py").write_text("x = 1\n")
    (where / "locked.py").chmod(0)

    def allminds(*words: str) -> str:
        command = [sys.executable, "-m", "allminds", *words]
        return subprocess.run(command, cwd=where, check=True, capture_output=True, text=True).stdout

    study = allminds("study", "new", "--write-plan").replace("moving-between-cells", "cells")
    (where / "study.toml").write_text(study, encoding="utf-8")
    allminds("study", "new", "study.toml", "--out", "study.db")
    allminds("run", "plan.toml", "--out", "run", "--jobs", "1")
    _break_runs(where)


def _break_runs(where: Path) -> None:
    """Copy the run, and break every copy in another way."""
    for name in ("plan", "empty", "parts", "sums", "json", "other"):
        shutil.copytree(where / "run", where / f"run-{name}")
    plan = where / "run" / "plan.json"
    (where / "run-plan" / "plan.json").write_bytes(plan.read_bytes()[:100])
    (where / "run-empty" / "plan.json").write_text("")
    for part in (where / "run-parts" / "records").iterdir():
        part.write_bytes(part.read_bytes()[:-50])
    (where / "run-sums" / "SHA256SUMS").write_text("\0" * 100)
    (where / "run-json" / "plan.json").write_text("[" * 20_000)
    (where / "run-other" / "summary.json").write_text(json.dumps({"tests": 5}))
