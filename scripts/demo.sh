#!/bin/sh
# The main job in a minute of reading: a database that keeps its promise, a store
# that is broken on purpose, and proofs that can be checked.  Of what real
# clients do only that is shown which is the same every time; the histories of
# "gen" have fixed seeds.  A command that ends otherwise than it should ends the
# demo with an error.
#   scripts/demo.sh PROGRAM
set -u

program=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 2
if [ -t 1 ] && [ -z "${NO_COLOR-}" ]; then
    bold=$(printf '\033[1m') plain=$(printf '\033[0m')
else
    bold='' plain=''
fi

gap=''
say() {
    printf '%s%s# %s%s\n' "$gap" "$bold" "$1" "$plain"
    gap='
'
}

# show STATUS WORD...: runs holdfast, which must end with STATUS; prints what
# it says, of a long answer the first paragraph
show() {
    expected=$1
    shift
    printf '%s$ holdfast %s%s\n' "$bold" "$*" "$plain"
    "$program" "$@" >answer
    status=$?
    case "$*" in
    *"level auto"*) sed '/^$/,$d' answer ;;
    *) cat answer ;;
    esac
    if [ $status -ne "$expected" ]; then
        echo "demo: expected exit status $expected, found $status" >&2
        exit 1
    fi
}

# show_some STATUS PATTERN WORD...: the same, of a run; only the lines that match
show_some() {
    expected=$1
    pattern=$2
    shift 2
    printf '%s$ holdfast %s | grep -E "%s"%s\n' "$bold" "$*" "$pattern" "$plain"
    "$program" "$@" >answer
    status=$?
    grep -E "$pattern" answer
    if [ $status -ne "$expected" ]; then
        echo "demo: expected exit status $expected, found $status" >&2
        exit 1
    fi
}

say "Ten clients run SmallBank on SQLite. Does it keep what it promises?"
show_some 0 "^(valid|invalid|invariants)" test -n 5000 -o sqlite
printf '%s$ ls sqlite%s\n' "$bold" "$plain"
ls sqlite

say "The same on a store that forgets to look for lost updates."
show_some 1 "^(valid|invalid|lost update)" test --db store --inject lost-update --workload lost-update -n 1000 --max 1 -o broken

say "Small enough to follow: a store that promises snapshot isolation, and keeps it."
show 0 gen --level snapshot-isolation -n 5 -k 2 -s 3 --ops 2-3 --seed 7 -o good.jsonl
show 0 check --level snapshot-isolation --witness proof.json good.jsonl
show 0 verify good.jsonl proof.json

say "The same store with a bug: it forgets to look for lost updates."
show 0 gen --inject lost-update -n 5 -k 2 -s 3 --ops 1-2 --mix 30:0:70 --seed 7 -o bad.jsonl
show 1 check --level snapshot-isolation --max 1 --witness proof.json bad.jsonl

say "What does it keep, then?"
show 1 check --level auto bad.jsonl

say "A proof that claims more than it shows is refused: prefix allows this."
sed 's/"level":"snapshot-isolation"/"level":"prefix"/g' proof.json >forged.json
show 1 verify bad.jsonl forged.json
