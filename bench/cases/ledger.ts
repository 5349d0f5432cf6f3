/** Reserve and commit, compared with a ledger on Redis. Every user has a grant and a cap. */
import { measureRounds } from '../measure.ts'
import { FULL_LOAD, PEERS, SERVICE, startTestBed, USERS } from '../servers/test-bed.ts'
import { type Bench, detailsOf, type Findings, ratioRow } from './bench.ts'

const MIX = { reserve: 50, commit: 50 }
const LOAD = 'reserve and commit, 10k users'

export async function ledgerCase(bench: Bench): Promise<Findings> {
  const { say, settings } = bench
  const { service, peers, candidate } = await startTestBed(bench, 'ledger', {
    peers: ['ledger', 'ledger-always'],
    users: { hasCaps: true },
  })
  const targets = [service, ...peers]
  const load = { ...FULL_LOAD, users: USERS, mix: MIX }
  say('warming up')
  const warmup = { ...load, warmupMs: 0, measureMs: settings.isQuick ? 1_500 : 5_000 }
  for (const target of targets) await candidate(target, warmup).run(0)
  say(LOAD)
  const samples = await measureRounds(
    targets.map(target => candidate(target, load)),
    settings.rounds,
    say,
  )
  const versus = (peer: string, min: number) =>
    ratioRow(LOAD, peer, { ours: samples.get(SERVICE), theirs: samples.get(peer), min })
  return {
    rows: [versus(PEERS.ledger, 0.9), versus(PEERS['ledger-always'], 1.2)],
    details: detailsOf(`closed loop, ${LOAD}`, samples),
    notes: [],
  }
}
