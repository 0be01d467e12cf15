#!/usr/bin/env bash
# A Spark cluster on this machine, for the tests and for a first try: a standalone master, workers of
# one core and a Spark Connect server, all on the loopback interface, from pyspark on PyPI.
#
#   ./cluster.sh start DIR [WORKERS]   install (once) and start; prints the address sc://127.0.0.1:PORT
#   ./cluster.sh stop DIR
#
# Needs Java 17 or later and Python 3 with venv. DIR keeps everything: the installation, the logs and
# the process numbers. PYSPARK_VENV names an installation to use instead; SPARK_PORT is the port of
# Spark Connect (15002), the master has the next one.
set -euo pipefail
VERSION=4.3.0
verb=${1:-} dir=${2:-}
[[ -n $dir ]] || { sed -n '2,11s/^# \{0,1\}//p' "$0" >&2; exit 2; }
mkdir -p "$dir" && dir=$(cd "$dir" && pwd)
venv=${PYSPARK_VENV:-$dir/venv}
port=${SPARK_PORT:-15002} master=$((${SPARK_PORT:-15002} + 1))

install() {
  [[ -x $venv/bin/spark-submit ]] && return
  python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet "pyspark==$VERSION" >&2
}

listening() { (: >"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

wait_for() { # port, what
  for _ in $(seq 240); do
    listening "$1" && return
    kill -0 "$(tail -n 1 "$dir/pids")" 2>/dev/null || break # it has ended
    sleep .5
  done
  echo "$2 does not answer on port $1: see $dir/log" >&2
  stop
  exit 1
}

start() {
  command -v java >/dev/null || { echo "there is no java" >&2; exit 1; }
  install
  SPARK_HOME=$(echo "$venv"/lib/python3*/site-packages/pyspark)
  export SPARK_HOME SPARK_LOCAL_IP=127.0.0.1
  export SPARK_LOG_DIR=$dir/log SPARK_WORKER_DIR=$dir/work SPARK_LOCAL_DIRS=$dir/local
  mkdir -p "$dir/log" "$dir/work" "$dir/local"
  cd "$dir"
  run() { # name, command
    local name=$1
    shift
    setsid nohup "$@" >"$dir/log/$name" 2>&1 </dev/null &
    echo $! >>"$dir/pids"
  }
  export SPARK_DAEMON_MEMORY=256m
  run master "$SPARK_HOME/bin/spark-class" org.apache.spark.deploy.master.Master \
    --host 127.0.0.1 --port "$master" --webui-port 0
  wait_for "$master" "the master"
  for i in $(seq "${3:-2}"); do
    run "worker$i" "$SPARK_HOME/bin/spark-class" org.apache.spark.deploy.worker.Worker \
      --host 127.0.0.1 --cores 1 --memory 1500m --webui-port 0 "spark://127.0.0.1:$master"
  done
  export SPARK_DAEMON_MEMORY=1g # of the server too
  run connect "$SPARK_HOME/bin/spark-submit" --master "spark://127.0.0.1:$master" \
    --class org.apache.spark.sql.connect.service.SparkConnectServer \
    --conf "spark.connect.grpc.binding.address=127.0.0.1" \
    --conf "spark.connect.grpc.binding.port=$port" \
    --conf spark.ui.enabled=false --conf spark.eventLog.enabled=false \
    --conf spark.io.encryption.enabled=true \
    --conf spark.sql.shuffle.partitions=4 --conf spark.executor.memory=1g \
    spark-internal
  wait_for "$port" "Spark Connect"
  echo "sc://127.0.0.1:$port"
}

# stop ends what start began: each was made the leader of a group of its own.
stop() {
  [[ -f $dir/pids ]] || return 0
  while read -r pid; do kill -- "-$pid" 2>/dev/null || true; done <"$dir/pids"
  rm -f "$dir/pids"
}

case $verb in
start) start "$@" ;;
stop) stop ;;
*) echo "start or stop" >&2; exit 2 ;;
esac
