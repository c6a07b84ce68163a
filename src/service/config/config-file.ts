import { LineCounter, parseDocument, type Document } from 'yaml'
import { issuesOf } from '../../contract/issues.ts'
import { SvcError } from '../../core/errors.ts'
import { configSchema, type Config } from './schema.ts'
import { openText } from './private-text.ts'

const sample = 'Compare it with: svc help configuration'

/** Headers that are no secret whatever they say. */
const harmless = /^(?:accept|content-type|user-agent)$/i

const holdsSecret = ({ smtp, sms, quotes }: Config): boolean =>
  smtp?.password !== undefined ||
  sms?.secret !== undefined ||
  quotes?.secret !== undefined ||
  (smtp?.url !== undefined && URL.canParse(smtp.url) && new URL(smtp.url).password !== '') ||
  [sms, quotes]
    .flatMap((section) => Object.entries(section?.headers ?? {}))
    .some(([name, value]) => !harmless.test(name) && !value.includes('{secret}'))

const expanded = (document: Document, file: string): unknown => {
  try {
    return document.toJS() ?? {}
  } catch {
    throw new SvcError('usage', 'bad_config', `${file} refers to itself too often`, { hint: sample })
  }
}

/** What the parser says quotes the text, and so perhaps a secret: only where it stands is told. */
const parse = (text: string, file: string): unknown => {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  const [error] = document.errors
  if (!error) return expanded(document, file)
  const { line, col } = lines.linePos(error.pos[0])
  throw new SvcError('usage', 'bad_config', `${file} is no YAML: line ${line}, column ${col}`, {
    detail: error.code.toLowerCase().replaceAll('_', ' '),
    hint: sample,
  })
}

/** The file of `--config`. Fails with an SvcError that names each field, and where others can read a secret in it. */
export const readConfigFile = (file: string): Config => {
  const { text, requirePrivate } = openText(file, 'The configuration')
  const given = parse(text, file)
  const checked = configSchema.safeParse(given)
  if (!checked.success) {
    const issues = issuesOf(checked.error, configSchema, given)
    const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : ''
    throw new SvcError('usage', 'bad_config', `${file}: ${issues[0]!.field} ${issues[0]!.message}${more}`, {
      issues,
      hint: sample,
    })
  }
  if (holdsSecret(checked.data)) requirePrivate()
  return checked.data
}
