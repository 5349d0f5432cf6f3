/** The formats that Slack and Teams document, for bodies that are sent to their incoming webhooks. */

import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect } from 'vitest'

const text = (type: string, maxLength: number, more = {}) => ({
  type: 'object',
  required: ['type', 'text'],
  properties: { type: { const: type }, text: { type: 'string', minLength: 1, maxLength }, ...more },
  additionalProperties: false,
})
const plain = (maxLength: number) => text('plain_text', maxLength, { emoji: { type: 'boolean' } })
const blockOf = (type: string, properties: object) => ({
  type: 'object',
  required: ['type', ...Object.keys(properties)],
  properties: { type: { const: type }, ...properties },
  additionalProperties: false,
})

/** docs.slack.dev/reference/block-kit/blocks: at most 50, a header of 150 characters, texts of 3,000, a context of 10 elements. */
const SLACK = {
  type: 'object',
  required: ['text', 'blocks'],
  properties: {
    text: { type: 'string', minLength: 1, maxLength: 4_000 },
    mrkdwn: { const: false },
    unfurl_links: { type: 'boolean' },
    unfurl_media: { type: 'boolean' },
    blocks: {
      type: 'array',
      minItems: 1,
      maxItems: 50,
      items: {
        oneOf: [
          blockOf('header', { text: plain(150) }),
          blockOf('section', { text: { oneOf: [plain(3_000), text('mrkdwn', 3_000, { verbatim: { const: true } })] } }),
          blockOf('context', { elements: { type: 'array', minItems: 1, maxItems: 10, items: plain(3_000) } }),
        ],
      },
    },
  },
  additionalProperties: false,
}

const run = {
  type: 'object',
  required: ['type', 'text'],
  properties: {
    type: { const: 'TextRun' },
    text: { type: 'string' },
    weight: { enum: ['Lighter', 'Default', 'Bolder'] },
    size: { enum: ['Small', 'Default', 'Medium', 'Large', 'ExtraLarge'] },
    isSubtle: { type: 'boolean' },
  },
  additionalProperties: false,
}

/** adaptivecards.io/explorer, and learn.microsoft.com, "Create and send messages": a message with one card. */
const TEAMS = blockOf('message', {
  summary: { type: 'string', minLength: 1 },
  attachments: {
    type: 'array',
    minItems: 1,
    maxItems: 1,
    items: {
      type: 'object',
      required: ['contentType', 'content'],
      properties: {
        contentType: { const: 'application/vnd.microsoft.card.adaptive' },
        contentUrl: { type: 'null' },
        content: {
          type: 'object',
          required: ['type', 'version', 'body'],
          properties: {
            $schema: { const: 'http://adaptivecards.io/schemas/adaptive-card.json' },
            type: { const: 'AdaptiveCard' },
            version: { enum: ['1.2', '1.3', '1.4', '1.5'] },
            msteams: { type: 'object' },
            body: {
              type: 'array',
              items: blockOf('RichTextBlock', { inlines: { type: 'array', minItems: 1, items: run } }),
            },
            actions: {
              type: 'array',
              maxItems: 6,
              items: blockOf('Action.OpenUrl', { title: { type: 'string' }, url: { type: 'string' } }),
            },
          },
          additionalProperties: false,
        },
      },
      additionalProperties: false,
    },
  },
})

const ajv = new Ajv2020({ strict: false, allErrors: true })
const [slack, teams] = [ajv.compile(SLACK), ajv.compile(TEAMS)]

export function expectSlack(body: unknown): void {
  expect(slack(body), `${ajv.errorsText(slack.errors)}: ${JSON.stringify(body)}`).toBe(true)
}

export function expectTeams(body: unknown): void {
  expect(teams(body), `${ajv.errorsText(teams.errors)}: ${JSON.stringify(body)}`).toBe(true)
  // Counted as UTF-16, as Teams counts a bot's: the larger of the two.
  expect(2 * JSON.stringify(body).length).toBeLessThan(28 * 1_024)
}
