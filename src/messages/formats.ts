/** Messages in the formats of Slack, Microsoft Teams and e-mail. Others' texts are escaped for each, so that none is markup. */
import { cut, type Message } from './message.ts'

/**
 * Slack's limits of a header and of a text (docs.slack.dev/reference/block-kit/blocks/header-block, …/composition-objects/text-object), and how
 * long a message may be that is shown whole (docs.slack.dev/messaging, "Truncating content").
 */
const MAX_SLACK_HEADER = 150
const MAX_SLACK_TEXT = 3_000
const MAX_SLACK_FALLBACK = 4_000

/** Slack reads these as markup in each text, `plain_text` too (docs.slack.dev/messaging/formatting-message-text, "Escaping text"). */
const SLACK_ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/**
 * The body for an incoming webhook of Slack. Its texts are `plain_text`, in which nothing is a link, a mention, or bold; `text` is what
 * notifications show.
 */
export function slackBody({ title, facts, list, advice, link, footer }: Message): object {
  const plain = (lines: readonly string[], type = 'section') => ({
    type,
    text: {
      type: 'plain_text',
      text: escapedFor(SLACK_ESCAPES, lines.join('\n'), type === 'header' ? MAX_SLACK_HEADER : MAX_SLACK_TEXT),
      emoji: false,
    },
  })
  const factLines = facts.map(([label, value]) => `${label}: ${value}`)
  const linkText = link === null ? null : `<${escapedFor(SLACK_ESCAPES, link.url)}|${link.label}>`
  return {
    text: escapedFor(SLACK_ESCAPES, title, MAX_SLACK_FALLBACK),
    mrkdwn: false,
    unfurl_links: false,
    unfurl_media: false,
    blocks: [
      plain([title], 'header'),
      ...[factLines, list, advice === null ? [] : [advice]]
        .filter(lines => lines.length > 0)
        .map(lines => plain(lines)),
      ...(linkText === null ? [] : [{ type: 'section', text: { type: 'mrkdwn', verbatim: true, text: linkText } }]),
      {
        type: 'context',
        elements: [{ type: 'plain_text', text: escapedFor(SLACK_ESCAPES, footer, MAX_SLACK_TEXT), emoji: false }],
      },
    ],
  }
}

/**
 * The body for an incoming webhook of Teams: an Adaptive Card (learn.microsoft.com, "Create incoming webhooks", which limits a message to
 * 28 KB; the longest message stays below that). Runs of text in a `RichTextBlock` are not read as Markdown, as `TextBlock` and `FactSet` are
 * (adaptivecards.io/explorer/TextRun.html).
 */
export function teamsBody({ title, facts, list, advice, link, footer }: Message): object {
  const block = (inlines: readonly object[]) => ({ type: 'RichTextBlock', inlines })
  const run = (text: string, style = {}) => ({ type: 'TextRun', text, ...style })
  const body = [
    block([run(title, { weight: 'Bolder', size: 'Medium' })]),
    ...facts.map(([label, value]) => block([run(`${label}: `, { isSubtle: true }), run(value)])),
    ...list.map(line => block([run(`– ${line}`)])),
    ...(advice === null ? [] : [block([run(advice)])]),
    block([run(footer, { isSubtle: true, size: 'Small' })]),
  ]
  const actions = link === null ? {} : { actions: [{ type: 'Action.OpenUrl', title: link.label, url: link.url }] }
  const $schema = 'http://adaptivecards.io/schemas/adaptive-card.json'
  const content = { $schema, type: 'AdaptiveCard', version: '1.4', msteams: { width: 'Full' }, body, ...actions }
  const contentType = 'application/vnd.microsoft.card.adaptive'
  // Where a card has no room, as on phones, its summary is shown in place of "Card".
  return { type: 'message', summary: title, attachments: [{ contentType, contentUrl: null, content }] }
}

/** An e-mail, but for its addresses. */
export interface EmailContent {
  subject: string
  text: string
  html: string
}

/** A subject that programs show on one line; RFC 5322 allows a line 998 characters. */
const MAX_SUBJECT = 150

const HTML_ESCAPES: Readonly<Record<string, string>> = { ...SLACK_ESCAPES, '"': '&quot;', "'": '&#39;' }

export function emailContent({ title, facts, list, advice, link, footer, stop }: Message): EmailContent {
  const html = (text: string) => escapedFor(HTML_ESCAPES, text)
  const anchor = ({ label, url }: { label: string; url: string }) => `<a href="${html(url)}">${html(label)}</a>`
  const plain = [
    [title],
    facts.map(([label, value]) => `${label}: ${value}`),
    list.map(line => `- ${line}`),
    [advice, link === null ? null : `${link.label}: ${link.url}`].filter(line => line !== null),
    // RFC 3676: what stands below this line is a signature.
    ['-- ', footer, ...(stop === null ? [] : [`${stop.label}: ${stop.url}`])],
  ]
  const rows = facts.map(([label, value]) => `<tr><td>${html(label)}</td><td>${html(value)}</td></tr>`)
  const parts = [
    `<p><strong>${html(title)}</strong></p>`,
    rows.length === 0 ? '' : `<table cellpadding="4">${rows.join('')}</table>`,
    list.length === 0 ? '' : `<ul>${list.map(line => `<li>${html(line)}</li>`).join('')}</ul>`,
    advice === null ? '' : `<p>${html(advice)}</p>`,
    link === null ? '' : `<p>${anchor(link)}</p>`,
    `<p><small>${html(footer)}${stop === null ? '' : ` ${anchor(stop)}`}</small></p>`,
  ]
  return {
    subject: cut(title, MAX_SUBJECT),
    text: `${plain
      .filter(lines => lines.length > 0)
      .map(lines => lines.join('\n'))
      .join('\n\n')}\n`,
    html: parts.join('\n'),
  }
}

/** The beginning of a text, escaped; it does not end within an escape. */
function escapedFor(
  escapes: Readonly<Record<string, string>>,
  text: string,
  maxLength = Number.POSITIVE_INFINITY,
): string {
  let escaped = ''
  for (const character of text) {
    const next = escapes[character] ?? character
    if (escaped.length + next.length >= maxLength) return `${escaped}…`
    escaped += next
  }
  return escaped
}
