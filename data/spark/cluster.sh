#!/usr/bin/env bash
# A Spark cluster on this machine, for the tests and for a first try: a standalone master, workers
# of one core and a Spark Connect server, all on free ports of the loopback interface, from pyspark on
# PyPI.
#
#   ./cluster.sh DIR [WORKERS]
#
# installs (once) and starts two workers or as many as said, prints the address sc://127.0.0.1:PORT,
# and stops all of it when its standard input ends (Ctrl-D) or on Ctrl-C. Needs Java 17 or later and
# Python 3 with venv; where one is missing, or PyPI cannot be reached, the exit status is 3. DIR
# keeps the installation and the logs. PYSPARK_VENV names an installation to use instead.
set -euo pipefail
set -m # each process that is started leads a group of its own, in which its children are
VERSION=4.3.0 PATIENCE=400
[[ -n ${1:-} ]] || { sed -n '2,12s/^# \{0,1\}//p' "$0" >&2; exit 2; }
mkdir -p "$1" && dir=$(cd "$1" && pwd)
workers=${2:-2} venv=${PYSPARK_VENV:-$dir/venv}

lack() { echo "$1" >&2; exit 3; }

java -version >/dev/null 2>&1 || lack "there is no Java"
if [[ ! -x $venv/bin/spark-submit ]]; then
  python3 -m venv "$venv" >&2 || lack "there is no Python 3 with venv"
  "$venv/bin/pip" install --quiet "pyspark==$VERSION" >&2 || lack "pyspark cannot be had from PyPI"
fi
SPARK_HOME=$(echo "$venv"/lib/python3*/site-packages/pyspark)
export SPARK_HOME SPARK_LOCAL_IP=127.0.0.1 SPARK_WORKER_DIR=$dir/work SPARK_LOCAL_DIRS=$dir/local
mkdir -p "$dir/log" "$dir/work" "$dir/local"
cd "$dir"

groups=()
declare -A group_of

# stop ends what was begun, and waits until it has ended.
stop() {
  local group
  for group in "${groups[@]}"; do kill -TERM -- "-$group" 2>/dev/null || true; done
  for _ in $(seq 50); do
    for group in "${groups[@]}"; do kill -0 "$group" 2>/dev/null && sleep .2 && continue 2; done
    break
  done
  for group in "${groups[@]}"; do kill -KILL -- "-$group" 2>/dev/null || true; done
  wait 2>/dev/null || true
}
trap stop EXIT
trap 'exit 1' INT TERM HUP

run() { # name, command
  local name=$1
  shift
  : >"$dir/log/$name"
  "$@" >"$dir/log/$name" 2>&1 </dev/null &
  groups+=($!) group_of[$name]=$!
}

# said waits until a log has a line, and prints what that says behind it.
said() { # name, line
  local found
  for _ in $(seq $((2 * PATIENCE))); do
    if found=$(grep -m 1 -o "$2.*" "$dir/log/$1"); then
      echo "${found#"$2"}"
      return
    fi
    kill -0 "${group_of[$1]}" 2>/dev/null || break # it has ended
    sleep .5
  done
  echo "$1 has not come up in $PATIENCE s, or has ended. The end of $dir/log/$1:" >&2
  tail -n 15 "$dir/log/$1" >&2
  return 1
}

export SPARK_DAEMON_MEMORY=256m
run master "$SPARK_HOME/bin/spark-class" org.apache.spark.deploy.master.Master \
  --host 127.0.0.1 --port 0 --webui-port 0
master=$(said master "Starting Spark master at ")
for i in $(seq "$workers"); do
  run "worker$i" "$SPARK_HOME/bin/spark-class" org.apache.spark.deploy.worker.Worker \
    --host 127.0.0.1 --cores 1 --memory 1500m --webui-port 0 "$master"
done
export SPARK_DAEMON_MEMORY=1g # of the server too
run connect "$SPARK_HOME/bin/spark-submit" --master "$master" \
  --class org.apache.spark.sql.connect.service.SparkConnectServer \
  --conf "spark.connect.grpc.binding.address=127.0.0.1" --conf spark.connect.grpc.binding.port=0 \
  --conf spark.ui.enabled=false --conf spark.eventLog.enabled=false \
  --conf spark.io.encryption.enabled=true \
  --conf spark.sql.shuffle.partitions=4 --conf spark.executor.memory=1g \
  spark-internal
for i in $(seq "$workers"); do
  said "worker$i" "Successfully registered with master" >/dev/null
done
address=$(said connect "Spark Connect server started at: ")
echo "sc://$address"

while :; do read -r -t 1 _ || [[ $? -gt 128 ]] || break; done
