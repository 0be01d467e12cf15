#!/bin/sh
# Sixteen jobs of jobs.yaml as an array: sbatch slurm.sh
# Tables, schemas, ledgers, jobs.yaml and its journal are on a shared file system that supports locks (flock).
#SBATCH --job-name=decoy-batch
#SBATCH --array=0-15
#SBATCH --cpus-per-task=1
#SBATCH --mem=1G
#SBATCH --requeue
decoy batch jobs.yaml --only "$SLURM_ARRAY_TASK_ID"
