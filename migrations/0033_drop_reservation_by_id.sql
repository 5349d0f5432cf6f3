-- serves: 0.1.0
-- transaction: none
-- The key answers the same. A version before this one finds reservations by a part of their id slowly: it reads them all.
drop index concurrently if exists reservation_by_id;
