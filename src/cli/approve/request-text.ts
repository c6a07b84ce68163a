import stringWidth from 'string-width'
import { askedText, becauseText, progressText } from '../../contract/line-progress.ts'
import { safeLine } from '../../core/safe-text.ts'
import { spanText } from '../../core/sentence.ts'
import { freeNames } from '../../receipt/granted.ts'
import type { Subject } from '../../receipt/subject.ts'
import { fieldsOf, summaryOf } from '../../receipt/subject-text.ts'
import type { GrantTerms, KeyOwner } from '../../receipt/context.ts'
import type { OutputStream } from '../terminal/io.ts'
import { timeLeft } from './progress.ts'
import type { Ceremony } from './software-device.ts'

/** Local time with its zone: `14:03:22 CET`. */
const localTime = new Intl.DateTimeFormat('en-GB', { timeStyle: 'long' })
const localDay = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium' })
export const clock = (iso: string): string => localTime.format(new Date(iso))

/** With the day if that is not today. */
export const clockOrDay = (iso: string, now: number): string => {
  const day = localDay.format(new Date(iso))
  return day === localDay.format(now) ? clock(iso) : `${day}, ${clock(iso)}`
}

const margin = ' '.repeat(14)
const segments = new Intl.Segmenter('en', { granularity: 'grapheme' })

/**
 * Lines of at most `width` cells, after a space if there is one near. Nothing is left out, and no foreign text begins at the
 * edge of the terminal.
 */
const broken = (text: string, width: number): string[] => {
  const lines: string[] = []
  let line = ''
  let used = 0
  for (const { segment } of segments.segment(text)) {
    const cells = stringWidth(segment)
    if (used + cells > width) {
      const space = line.lastIndexOf(' ') + 1
      const end = space > line.length / 2 ? space : line.length
      lines.push(line.slice(0, end))
      line = line.slice(end)
      used = stringWidth(line)
    }
    line += segment
    used += cells
  }
  return [...lines, line]
}

/** Foreign text in quotes that nothing in it ends. */
const quoted = (text: string): string => safeLine(JSON.stringify(text))

type Row = readonly [label: string, text: string | false | undefined]

/** Each in a line of its own, so that a name cannot imitate the number or the id of another person. */
const ownerRows = (owner: KeyOwner): Row[] => [
  [
    'Owner',
    `${quoted(owner.name)} (${owner.confirmed ? 'confirmed on their device' : 'claimed, not confirmed'})`,
  ],
  ['Owner id', `user ${owner.user_id}, mobile ${owner.mobile}`],
  ['Warning', owner.twin && 'another member has the same or a similar name: check the mobile number'],
]

/** Nothing if only one person is asked. */
const peopleRows = (lines: Ceremony['lines']): Row[] => {
  const progress = progressText(lines)
  if (!lines || progress === undefined) return []
  return [
    ['Approvers', safeLine(askedText(lines))],
    ['So far', safeLine(progress)],
  ]
}

/** Why the approver is asked, as they sign it. */
const whyAsked = ({ lines, approver }: Ceremony['context']): string | undefined =>
  becauseText([
    ...new Set(lines.filter(({ people }) => people.includes(approver.user_id)).flatMap(({ rules }) => rules)),
  ])

/** What an approver can allow besides, in words. */
export const offerText = (subject: Subject, { free, seconds, uses }: GrantTerms): string => {
  const names = freeNames(subject, free).map((name) => JSON.stringify(name))
  const what = names.length === 0 ? 'exactly this' : `this, in which only ${names.join(', ')} may differ`
  return `for ${spanText(seconds)}, up to ${uses} ${uses === 1 ? 'time' : 'times'}: ${what}`
}

const rowsOf = (ceremony: Ceremony, summary: string, now: number): Row[] => {
  const { context: signed, verifiedAs, requestedFrom, numberRequired, locationRequired } = ceremony
  const why = whyAsked(signed)
  const left = timeLeft((Date.parse(signed.request_expires_at) - now) / 1000)
  return [
    [
      'Break-glass',
      signed.break_glass &&
        `${quoted(signed.break_glass.reason)}: the people whom the rules name are not asked, and were told (users ${signed.break_glass.skipped.join(', ')})`,
    ],
    [
      'Claim',
      signed.action !== summary && `${quoted(signed.action)} (in the requester's words, not verified)`,
    ],
    ['Reason', signed.reason !== null && quoted(signed.reason)],
    ['For', safeLine(signed.organization.slug)],
    ['Credential', verifiedAs !== undefined && `${safeLine(verifiedAs)} (verified)`],
    ...(signed.key.owner ? ownerRows(signed.key.owner) : []),
    ['Requester', `${quoted(signed.requester)} (claimed, not verified)`],
    ['From', requestedFrom !== undefined && safeLine(requestedFrom)],
    ['Asked', why && safeLine(why)],
    ...peopleRows(ceremony.lines),
    ['Checked', safeLine(signed.factors.join(', '))],
    ['Requested', clockOrDay(signed.requested_at, now)],
    ['Until', `${clockOrDay(signed.request_expires_at, now)}, ${left}`],
    [
      'Grant',
      ceremony.grant && safeLine(`can be allowed again ${offerText(ceremony.subject, ceremony.grant)}`),
    ],
    ['Location', locationRequired && 'required by a geofence; approving asks for it'],
    ['Number', numberRequired && 'the requester sees one; approving asks for it'],
  ]
}

/**
 * All that will be signed, with invisible characters escaped, and who asks for it. What svc says is a label at the edge, or
 * outside of quotes: foreign text cannot imitate either.
 */
export const requestText = (
  ceremony: Ceremony,
  now: number,
  { isTTY, columns }: Pick<OutputStream, 'isTTY' | 'columns'>,
): string => {
  const width = isTTY ? Math.max(20, columns - 1) : Infinity
  const summary = summaryOf(ceremony.subject)
  const row = (label: string, text: string, indent = margin): string =>
    broken(text, width - indent.length)
      .map((line, at) => (at === 0 ? label.padEnd(indent.length) : indent) + line)
      .join('\n')
  return [
    '',
    row('  Action', safeLine(summary)),
    // A line of a value begins further in than a label.
    ...fieldsOf(ceremony.subject).map(({ label, value, before }) =>
      row(
        `${margin}- `,
        `${label}: ${before === undefined ? value : `${before} -> ${value}`}`,
        `${margin}  `,
      ),
    ),
    ...rowsOf(ceremony, summary, now).flatMap(([label, text]) => (text ? [row(`  ${label}`, text)] : [])),
    '',
    '',
  ].join('\n')
}
