-- Why a reservation would have been denied that observe mode granted; null for all others. It is booked as force, and this
-- tells it from a request that asked for force.
alter table reservation add column would_deny text;
