import { join } from 'node:path'
import { expect, test } from 'vitest'
import { PROJECT } from '../support/paths.ts'

/** Sentences in German as they are shown: texts.test.ts proves only that there is one for each English one. */

// Imported dynamically, because their types need the DOM.
const textsOf = (file: string) => import(join(PROJECT, `console/src/texts/de/${file}.tsx`))
const { user } = await textsOf('user')
const { adjust } = (await textsOf('quota-dialogs')).dialogs
const { dialogTitles } = await import(join(PROJECT, 'console/src/texts/de/dialog-titles.ts'))
const { usage } = await textsOf('usage')
const { denials } = await textsOf('denials')
const { overview } = await textsOf('overview')

test.each([
  [
    // An element of React: its children are texts here.
    user.status
      .blockedUntil(false, '13.06.2026, 00:00', user.status.usedUp([user.status.cap('day', 100)]))
      .props.children.join(''),
    'Gesperrt bis 13.06.2026, 00:00: die tägliche Obergrenze von 100 ist erreicht.',
  ],
  [
    user.status.raised('day', false, 340, '16.03.2026, 00:00', 100),
    'Die tägliche Obergrenze ist 340 bis 16.03.2026, 00:00, und danach 100.',
  ],
  [user.status.raise('Ceiling'), '„Ceiling“ anheben'],
  [dialogTitles.raise('day', 40), 'Tägliche Obergrenze von Benutzer 40 anheben'],
  [
    adjust.demand('Heute', 340, 240, 'cap'),
    'Heute wurden 580 Einheiten angefragt: 340 gewährt, 240 wegen einer Obergrenze abgelehnt. Jeder Versuch zählt.',
  ],
  [usage.errors.to, 'Bitte einen Tag wählen, der nicht vor „Von“ liegt.'],
  [usage.measures.committed.label, 'Bestätigt'],
  [denials.explanation.title, 'Warum sie abgelehnt wurde'],
  [denials.explanation.verdicts.blocks, 'Hielt die Nachricht auf: zu wenig Raum'],
  [overview.strip.findings.blocked(3, true), '3+ Kunden gesperrt'],
])('%s', (text, expected) => {
  expect(text).toBe(expected)
})
