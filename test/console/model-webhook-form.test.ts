import { join } from 'node:path'
import { expect, test } from 'vitest'
import { PROJECT } from '../support/paths.ts'

// Its types need the DOM.
const { changedSettings, webhookRequest, writtenIn } = await import(join(PROJECT, 'console/src/model/webhook-form.ts'))

test('a new webhook is asked for with what its kind needs', () => {
  const values = { url: 'https://example.com', addresses: [' a@example.com ', ''], types: null }
  expect(webhookRequest({ kind: 'email', ...values })).toEqual({
    kind: 'email',
    addresses: ['a@example.com'],
    types: null,
  })
  for (const kind of ['webhook', 'slack', 'teams'])
    expect(webhookRequest({ kind, ...values })).toEqual({ kind, url: 'https://example.com', types: null })
})

test('a secret URL is changed only by another one', () => {
  expect(changedSettings('slack', { url: '', types: null })).toEqual({ types: null })
  expect(changedSettings('slack', { url: 'https://example.com/new' })).toEqual({ url: 'https://example.com/new' })
  expect(changedSettings('webhook', { url: '' })).toEqual({ url: '' })
})

test('addresses are what the lines hold', () => {
  expect(writtenIn(['a@example.com', ' ', ' b@example.com'])).toEqual(['a@example.com', 'b@example.com'])
})
