import { sha256 } from '../core/ids.ts'
import { safeLine } from '../core/safe-text.ts'
import { shellQuote } from '../core/shell-quote.ts'
import { canonicalData, type Subject } from './subject.ts'

/** One line that an approver reads; `before` is the value that an update replaces. */
export type SubjectField = { label: string; value: string; before?: string }

const longestHeadline = 300

/** A headline; if it is long, with how much is left out and the digest of the whole. The fields contain all of it. */
const headline = (text: string): string => {
  const whole = safeLine(text)
  if (whole.length <= longestHeadline) return whole
  const rest = (left: number): string => ` … (${left} more characters; SHA-256 of the whole: ${sha256(text)})`
  const room = longestHeadline - rest(whole.length).length
  const head = whole.slice(0, room).replace(/[\uD800-\uDBFF]$/, '')
  return head + rest(whole.length - head.length)
}

/** All of a value: whoever approves it must be able to read it to its end. Nothing is shown as `""`. */
const valueText = (value: unknown): string =>
  value === '' ? '""' : safeLine(typeof value === 'string' ? value : canonicalData(value))

/** Our own labels start with a capital letter, so that no name in the data can look like one. */
const labelOf = (name: string): string =>
  /^[a-z][\w.-]{0,63}$/.test(name) ? name : valueText(JSON.stringify(name))

const line = (label: string, value: unknown): SubjectField => ({ label, value: valueText(value) })

const members = (data: Record<string, unknown>, before: Record<string, unknown> = {}): SubjectField[] =>
  Object.entries(data).map(([name, value]) => {
    const field: SubjectField = { label: labelOf(name), value: valueText(value) }
    if (Object.hasOwn(before, name)) field.before = valueText(before[name])
    return field
  })

const commandLine = (argv: readonly string[]): string => argv.map(shellQuote).join(' ')

/** `createGeofence` as `Create geofence`. */
const words = (operation: string): string => {
  const text = operation.replaceAll(
    /([a-z0-9])([A-Z])/g,
    (_, end: string, start: string) => `${end} ${start.toLowerCase()}`,
  )
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}

const countText = (counts: Record<string, number>): string =>
  Object.entries(counts)
    .map(([what, count]) => `${what} ${count}`)
    .join(', ')

type Definition = NonNullable<Extract<Subject, { type: 'tool_call' }>['data']['definition']>

const changedLine = (label: string, { before, now }: { before: string; now: string }): SubjectField => ({
  ...line(label, now),
  before: valueText(before),
})

const definitionLines = ({ sha256: now, changed }: Definition): SubjectField[] => {
  if (!changed) return [line('Tool definition', `SHA-256 ${now}`)]
  const { before, description } = changed
  return [
    changedLine('Tool definition', { before: `SHA-256 ${before}`, now: `SHA-256 ${now}` }),
    ...(description ? [changedLine("Server's description", description)] : []),
  ]
}

/** What a change is about: a thing by its name, or a user. */
const nameIn = (body: Record<string, unknown>): string | undefined => {
  const { name, user, first_name, last_name } = body
  const people = [first_name, last_name].filter((part) => typeof part === 'string').join(' ')
  return [name, user, people].find((one) => typeof one === 'string' && one !== '') as string | undefined
}

const bytesText = (size: number): string => `${size.toLocaleString('en')} bytes`

type Rendered = { summary: string; fields: SubjectField[] }

const renderings: { [T in Subject['type']]: (data: Extract<Subject, { type: T }>['data']) => Rendered } = {
  text: ({ text }) => ({ summary: text, fields: [] }),
  command: ({ argv, cwd, executable, files, environment: { passed, set } }) => ({
    summary: headline(`Run ${commandLine(argv)}`),
    fields: [
      line('Command', commandLine(argv)),
      line('Working directory', cwd),
      line('Program', `${executable.path}, SHA-256 ${executable.sha256}`),
      ...files.map((file) => line('File', `${file.path}, SHA-256 ${file.sha256}`)),
      ...Object.entries(set).map(([name, value]) => line('Environment', `${name}=${value}`)),
      // A dash in every language. No variable has this name.
      line('Environment passed on', passed.join(', ') || '–'),
    ],
  }),
  request: ({ organization, operation, body, before, counts, deletions = [], file }) => {
    const named = nameIn(body)
    const name = named === undefined ? '' : `: ${named}`
    const where = organization ? ` in ${organization.slug}` : ''
    const bulk = counts ? ` (${countText(counts)})` : ''
    return {
      summary: headline(`${words(operation)}${where}${name}${bulk}`),
      fields: [
        line('Operation', operation),
        ...(organization ? [line('Organization', `${organization.slug} (id ${organization.id})`)] : []),
        ...(counts ? [line('Changes', countText(counts))] : []),
        // Every name, so that the approver has seen each deletion.
        ...deletions.map((one) => line('Deletes', one)),
        ...(file ? [line('File', `${file.name}, SHA-256 ${file.sha256}`)] : []),
        ...members(body, before),
      ],
    }
  },
  file: ({ name, size, sha256: digest }) => ({
    summary: headline(`File ${name}, ${bytesText(size)}`),
    fields: [line('Name', name), line('Size', bytesText(size)), line('SHA-256', digest)],
  }),
  tool_call: ({ server, tool, arguments: args, parameters, definition }) => ({
    summary: headline(
      `Call ${tool} on ${server}${definition?.changed ? ', whose definition has changed' : ''}`,
    ),
    fields: [
      line('Server', server),
      line('Tool', tool),
      ...(definition ? definitionLines(definition) : []),
      ...members(args),
      ...(parameters ? [line('Other parameters', parameters)] : []),
    ],
  }),
}

const rendered = (subject: Subject): Rendered =>
  (renderings[subject.type] as (data: Subject['data']) => Rendered)(subject.data)

/** The headline that the approver reads. From `data` alone, and safe to show anywhere. */
export const summaryOf = (subject: Subject): string => rendered(subject).summary

/** What the approver reads below it. From `data` alone, and safe to show anywhere. */
export const fieldsOf = (subject: Subject): SubjectField[] => rendered(subject).fields
