#!/bin/sh
# Backs up and verifies, and says when and how that ended to Prometheus' node_exporter (--collector.textfile.directory).
# For cron, as root or the account of the service:
#   15 2 * * *  /opt/sms-quota/deploy/prometheus/backup.sh /var/backups /var/lib/node_exporter [--env-file /etc/sms-quota.env]
set -u
backups=$1 metrics=$2
shift 2
sms_quota=${SMS_QUOTA:-$(dirname "$0")/../../bin/sms-quota}
was=$(sed -n 's/^sms_quota_backup_timestamp_seconds //p' "$metrics/sms-quota.prom" 2>/dev/null)

"$sms_quota" backup "$backups" "$@" && was=$(date +%s)
backed_up=$?
"$sms_quota" verify "$@"
verified=$?

# Written beside its place: node_exporter never reads half of it.
{
  echo "sms_quota_backup_timestamp_seconds ${was:-0}"
  echo "sms_quota_verify_exit_code $verified"
} > "$metrics/sms-quota.prom.$$" && mv "$metrics/sms-quota.prom.$$" "$metrics/sms-quota.prom"
[ "$backed_up" -eq 0 ] && [ "$verified" -eq 0 ]
