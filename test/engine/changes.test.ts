import { expect, test } from 'vitest'
import { createDraft } from '../../src/domain/units/draft.ts'
import { authorshipOf } from '../../src/engine/authorship.ts'
import { addChanges, noChanges } from '../../src/engine/changes.ts'

test('corrections of closed windows are sorted by quota and window, not in the order of the settlements', () => {
  const changes = noChanges()
  const state = { quotas: [], reservations: new Map(), counters: new Map() }
  for (const [user, quotas] of [
    [7, [192, 64]],
    [8, [128]],
  ] as const) {
    const draft = createDraft(user, [], [])
    for (const quota_id of quotas) {
      for (const window_no of [10, 9]) {
        draft.corrections.push({ quota_id, window_no, used: 1, reserved: -1 })
      }
    }
    addChanges(changes, state, draft, authorshipOf([], [], new Map()), 0)
  }
  const order = changes.corrected.map(({ quota_id, window_no }) => [quota_id, window_no])
  expect(order).toEqual([
    ...[9, 10].map(window => [64, window]),
    ...[9, 10].map(window => [192, window]),
    ...[9, 10].map(window => [128, window]),
  ])
})
