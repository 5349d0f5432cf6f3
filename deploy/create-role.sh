# Run once by the image of PostgreSQL, on a new database: the service's role owns its own database and has no other right.
# The role that the image makes is a superuser, which could read files and run programs.
psql --set=ON_ERROR_STOP=1 --set=password="$(cat /run/secrets/database-password)" --username=postgres <<'SQL'
create role sms_quota login password :'password';
create database sms_quota owner sms_quota encoding 'UTF8' template template0;
revoke all on database sms_quota from public;
SQL
