-- serves: 0.1.0
-- The ids of users that the service makes by itself (AUTO_USERS): 2^40 and the number.
create sequence user_number as bigint;
