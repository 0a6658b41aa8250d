#!/bin/sh
# Ask the model one question through its Gateway, and write the result for the job-status container.
#
# MODEL_URL    address of the Gateway, such as http://team-a-gw-istio.team-a.svc.cluster.local
# MODEL        the model's name in requests
# API_KEY      key of the Gateway, if it asks for one
# TIMEOUT      seconds to wait for the answer (60)
# RESULTS_PATH file with the result (/results/adapter-result.json)
#
# Needs curl and a POSIX shell. A result that says "failure" is a result too: the exit code is 0.
set -eu
: "${MODEL_URL:?is the address of the Gateway}" "${MODEL:?is the name of the model}"
results=${RESULTS_PATH:-/results/adapter-result.json}
answer=$results.answer error=$results.error

# report STATUS REASON MESSAGE: the file appears at once and whole, as it is renamed.
report() {
  message=$(printf '%s' "$3" | LC_ALL=C tr -c ' -~' ' ' | tr -d '"\\' | cut -c 1-500)
  printf '{"status": "%s", "reason": "%s", "message": "%s"}\n' "$1" "$2" "$message" \
    >"$results.new"
  rm -f "$answer" "$error"
  mv "$results.new" "$results"
  exit 0
}

question='{
  "model": "'$MODEL'",
  "messages": [{"role": "user", "content": "Answer with one word: are you ready?"}],
  "max_tokens": 64
}'

# The key goes to curl through its standard input, as arguments are shown in the list of processes.
config=
if [ -n "${API_KEY:-}" ]; then config="header = \"Authorization: Bearer $API_KEY\""; fi

: >"$answer"
code=$(printf '%s\n' "$config" | curl --config - --silent --show-error \
  --max-time "${TIMEOUT:-60}" --output "$answer" --write-out '%{http_code}' \
  --header 'Content-Type: application/json' --data "$question" \
  "$MODEL_URL/v1/chat/completions" 2>"$error") ||
  report failure NotReachable "the Gateway does not answer: $(head -c 300 "$error")"

if [ "$code" != 200 ]; then
  report failure NoAnswer "the Gateway answered $code: $(head -c 300 "$answer")"
fi
if ! grep -q '"content": *"[^"]' "$answer"; then
  report failure EmptyAnswer "the model answered without a text: $(head -c 300 "$answer")"
fi
report success Answered "the model answered"
