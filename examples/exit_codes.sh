#!/usr/bin/env bash
# Shows every exit code of the program, a fork with a slow judge, a run whose judge is down, and a limit on spending.
# Simulated models on a server of this machine; no network, no key. Run it in an empty folder: bash exit_codes.sh
set -u
PROGRAM=${PROGRAM:-dokimasia}
export COLUMNS=110

shown() { # shows a command, the last lines of what it says, and its exit code
    echo "\$ ${*//"$PROGRAM"/dokimasia}"
    "$@" >said.txt 2>&1
    local code=$?
    grep -v '^ *$' said.txt | tail -n "${LINES_SHOWN:-2}"
    echo "exit $code"
    echo
}

$PROGRAM sim make world.jsonl --samples 7 >/dev/null
$PROGRAM sim serve --port 8391 --latency 2 >/dev/null &
server=$!
trap 'kill $server 2>/dev/null' EXIT
cat >dokimasia.toml <<'END'
[models.judge2]
model = "openai/sim/judge-noisy"
api_base = "http://127.0.0.1:8391/v1"
[models.down]
model = "openai/sim/judge"
api_base = "http://127.0.0.1:9/v1"
[models.wrong]
model = "openai/sim/nonsense"
api_base = "http://127.0.0.1:8391/v1"
[models.keyed]
model = "openai/sim/judge"
api_base = "http://127.0.0.1:8391/v1"
api_key_env = "A_KEY_THAT_IS_NOT_SET"
END
run="evaluate world.jsonl --models sim/strong,sim/weak"

echo "## 0: complete; the run has a name and a tag"
shown $PROGRAM $run --judge sim/judge --name base --tag nightly
LINES_SHOWN=6 shown $PROGRAM runs --tag nightly

echo "## A fork whose judge takes two seconds a reply, stopped by a limit (4), and resumed (0)"
shown $PROGRAM fork last --from score --judge judge2 --max-calls 5
shown $PROGRAM resume last
shown $PROGRAM fork base --from extract_criteria --judge judge2 --max-calls 5
shown $PROGRAM resume last

echo "## 1: a judge that is down, a name that the server does not know; the same command tries again"
shown $PROGRAM $run --judge down
shown $PROGRAM $run --judge wrong
shown $PROGRAM $run --judge wrong
LINES_SHOWN=20 shown $PROGRAM runs

echo "## 2: the user's mistakes: a key that is not set, also in a dry run; a typo; an impossible home"
shown $PROGRAM $run --judge keyed
LINES_SHOWN=1 shown $PROGRAM $run --judge keyed --dry-run
shown $PROGRAM $run --judge sim/judge --nonsense
shown $PROGRAM $run --judge sim/judge --home /dev/null/home

echo "## 3: more failures than may be"
LINES_SHOWN=1 shown $PROGRAM $run --judge sim/judge-careless --max-failures 0

echo "## 4: a limit on spending; without it the run is completed"
LINES_SHOWN=1 shown $PROGRAM $run --judge sim/judge-lenient --max-calls 12
shown $PROGRAM $run --judge sim/judge-lenient

echo "## 5: a model below what was asked"
LINES_SHOWN=1 shown $PROGRAM $run --judge sim/judge --min-score 3
LINES_SHOWN=1 shown $PROGRAM $run --judge sim/judge --min-accuracy 0.5

echo "## 6: a person who has not answered yet, and what waits"
LINES_SHOWN=1 shown $PROGRAM $run --judge human/ana --name by-ana
LINES_SHOWN=1 shown $PROGRAM check by-ana --who ana </dev/null

echo "## 130: interrupted"
echo "\$ dokimasia $run --judge judge2    # and SIGTERM after four seconds"
$PROGRAM $run --judge judge2 >said.txt 2>&1 &
working=$!
sleep 4
kill -TERM $working
wait $working
code=$?
tail -n 2 said.txt
echo "exit $code"
