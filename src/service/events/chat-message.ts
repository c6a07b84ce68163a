import type { EventRecord } from '../../contract/event.ts'
import type { WebhookFormat } from '../../contract/webhook.ts'
import { safeLine } from '../../core/safe-text.ts'

// An event as a message that people read in a chat, with a link to the page and never a button. Whatever others wrote is plain
// text there: nothing in it is a link, a mention or a format.

/** What a webhook with the scope `read` is told of a request: also who is asked, and the names of the rules that ask. */
export type Told = { action: string; who: string; rules: string[]; isEmergency?: true }

/** The id of the request that an event is about, if it is about one. */
export const requestIdOf = ({ data: { subject } }: EventRecord): string | undefined =>
  subject.startsWith('approval:') ? subject.slice('approval:'.length) : undefined

const titles: Record<string, string> = {
  'approval.requested': 'Approval requested',
  'approval.answered': 'One of several people approved',
  'approval.approved': 'Approved',
  'approval.denied': 'Denied',
  'approval.expired': 'Expired without an approval',
  'approval.withdrawn': 'Withdrawn',
  'approval.used': 'Approval used',
}

/** A line may name many people, and Slack takes 3,000 characters of text. */
const longest = 700

const oneLine = (text: string): string => {
  const safe = safeLine(text)
  return safe.length > longest ? `${safe.slice(0, longest)}…` : safe
}

const sentences = ({ type, data }: EventRecord, told: Told | undefined): string[] => {
  const title = titles[type]
  if (title === undefined) return [`${type}: ${data.subject}, by ${data.actor}`]
  if (!told) return [title]
  return [
    `${told.isEmergency ? `Break-glass, ${title.toLowerCase()}` : title}: ${told.action}`,
    `Asked: ${told.who}`,
    ...(told.rules.length > 0 ? [`Rules: ${told.rules.join(', ')}`] : []),
  ]
}

/** https://docs.slack.dev/messaging/formatting-message-text: all that Slack parses starts with one of these. */
const forSlack = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

const section = (text: object) => ({ type: 'section', text })

/** An incoming webhook. In `plain_text`, Slack makes no links of its own; `text` is what its notification shows. */
const slackMessage = (lines: string[], links: string[]) => ({
  text: forSlack(lines[0]!),
  mrkdwn: false,
  unfurl_links: false,
  blocks: [
    ...lines.map((line) => section({ type: 'plain_text', text: forSlack(line), emoji: false })),
    ...links.map((url) => section({ type: 'mrkdwn', text: `<${forSlack(url)}>`, verbatim: true })),
  ],
})

/** A run of text is not read as Markdown, unlike a block of text, but `{{DATE(…)}}` can be. */
const plainBlock = (line: string) => ({
  type: 'RichTextBlock',
  inlines: [{ type: 'TextRun', text: line.replaceAll('{{', '{\u200b{') }],
})

/** An Adaptive Card, for a webhook of Workflows. */
const teamsMessage = (lines: string[], links: string[]) => {
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    body: [
      ...lines.map(plainBlock),
      ...links.map((url) => ({ type: 'TextBlock', text: `[${url}](${url})`, wrap: true })),
    ],
  }
  return {
    type: 'message',
    attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content }],
  }
}

/** The body of a message. `page` is the address of the approver page. */
export const chatMessage = (
  format: Exclude<WebhookFormat, 'json'>,
  { event, told, page }: { event: EventRecord; told: Told | undefined; page: string },
): string => {
  const lines = sentences(event, told).map(oneLine)
  const id = requestIdOf(event)
  const links = id === undefined ? [] : [`${page}#request=${id}`]
  if (format === 'text') return `${[...lines, ...links].join('\n')}\n`
  return JSON.stringify((format === 'slack' ? slackMessage : teamsMessage)(lines, links))
}
