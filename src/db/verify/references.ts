/**
 * The reference in a user's profile names that user, and a reference that names a user is in that user's profile. The two lie in different
 * shards, so no statement of a cluster compares them.
 */
import type { Shard } from '../../domain/basics/shard.ts'
import type { Database } from '../connection/database.ts'
import { sql } from '../connection/sql.ts'
import { IN_INDEX_ORDER } from '../connection/transaction-settings.ts'
import { namesOfUsers, usersByReference } from '../users/profiles.ts'
import { IN_RANGE } from './ledger.ts'
import type { Conclusion } from './proof.ts'

/** Rows that are compared at a time. */
const PAGE = 1_000

interface Named {
  ref: string
  user_id: number
}

const conclusionOf = (checked: number): Conclusion => ({
  proof: 'profiles',
  checked,
  not_provable: 0,
  differences: [],
})
const quoted = (ref: string | null | undefined) => (ref == null ? 'none' : JSON.stringify(ref))

/** Proves the profiles of users of a shard, above `after` and up to `upTo`. */
export async function checkProfiles(
  db: Database,
  { shard, after, upTo }: { shard: Shard; after: number; upTo: number },
  max: number,
): Promise<Conclusion> {
  const conclusion = conclusionOf(0)
  for (let from = after, isLast = false; !isLast && conclusion.differences.length < max; ) {
    const profiles = await db.transaction(async tx => {
      await tx.query({ text: IN_INDEX_ORDER })
      return tx.query<Named>({
        text: sql`select user_id, ref from user_profile where ${IN_RANGE} and ref is not null order by user_id limit $4`,
        values: [shard, from, upTo, PAGE],
      })
    }, 'snapshot')
    const users = await usersOfRefs(db, profiles)
    const wrong = profiles.filter(({ ref, user_id }) => users.get(ref) !== user_id)
    // They are read one after the other, and may have changed in between.
    const still = await refsOfUsers(db, wrong)
    for (const { ref, user_id } of wrong) {
      if (still.get(user_id) !== ref) continue
      const found = users.get(ref)
      const named = found == null ? 'no user' : `user ${found}`
      conclusion.differences.push({
        user_id,
        quota_id: null,
        message: `User ${user_id} has the reference ${quoted(ref)}, which names ${named}.`,
      })
    }
    conclusion.checked += profiles.length
    isLast = profiles.length < PAGE
    from = profiles.at(-1)?.user_id ?? upTo
  }
  return conclusion
}

/** Proves the references of a shard. */
export async function* checkReferences(db: Database, shard: Shard): AsyncGenerator<Conclusion[]> {
  for (let after: string | undefined = ''; after !== undefined; ) {
    const from: string = after
    const rows = await db.transaction(async tx => {
      await tx.query({ text: IN_INDEX_ORDER })
      return tx.query<Named>({
        text: sql`select ref, user_id from user_ref where shard = $1 and ref > $2 and user_id is not null order by ref limit $3`,
        values: [shard, from, PAGE],
      })
    }, 'snapshot')
    const refs = await refsOfUsers(db, rows)
    const wrong = rows.filter(({ ref, user_id }) => refs.get(user_id) !== ref)
    const still = await usersOfRefs(db, wrong)
    const conclusion = conclusionOf(0)
    for (const { ref, user_id } of wrong) {
      if (still.get(ref) !== user_id) continue
      const message = `The reference ${quoted(ref)} names user ${user_id}, whose profile has ${quoted(refs.get(user_id))}.`
      conclusion.differences.push({ user_id, quota_id: null, message })
    }
    yield [conclusion]
    after = rows.length < PAGE ? undefined : rows.at(-1)?.ref
  }
}

/** The references in the profiles of users. */
async function refsOfUsers(
  db: Database,
  users: readonly Pick<Named, 'user_id'>[],
): Promise<ReadonlyMap<number, string | null>> {
  if (users.length === 0) return NO_REFS
  const names = await namesOfUsers(
    db,
    users.map(({ user_id }) => user_id),
  )
  return new Map([...names].map(([user_id, { user_ref }]) => [user_id, user_ref]))
}

const NO_REFS: ReadonlyMap<number, string | null> = new Map()

/** The users that the references of rows name. */
const usersOfRefs = (db: Database, rows: readonly Named[]): Promise<ReadonlyMap<string, number | null>> =>
  rows.length === 0
    ? Promise.resolve(new Map())
    : usersByReference(
        db,
        rows.map(({ ref }) => ref),
      )
