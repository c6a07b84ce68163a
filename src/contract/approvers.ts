import { usageError } from '../core/errors.ts'

// Whom a request asks, in the same words at every edge: `+12025550101`, `+12025550101,+12025550102` (one of them),
// `@sre` (one member), `@sre:2` (two). spec: not shown

/** People of whom `need` must agree; either numbers in E.164 or the name of a group. */
export type Line = { people: string[]; group?: undefined; need: number } | { group: string; need: number }

/** More people than this are a group of groups, which nobody can read on a phone. */
export const mostPeople = 20
export const mostLines = 10
/** People whose phones one request can reach. */
export const mostAsked = 40

const shape =
  /^(?:@(?<group>[a-z][a-z0-9-]{0,39})|(?<people>\+[1-9]\d{6,14}(?:,\+[1-9]\d{6,14})*))(?::(?<need>[1-9]\d?))?$/

/** A number as people write it, such as `+1 (202) 555-0101`, in E.164. */
export const plainLine = (text: string): string => {
  const words = text.trim()
  return words.startsWith('+') ? words.replace(/[\s().-]/g, '') : words
}

/** Longer than any line of `mostPeople`. */
export const mostLength = 400

/** The line that a text means; undefined if it means none. */
export const readLine = (text: string): Line | undefined => {
  const found = shape.exec(plainLine(text))?.groups
  if (!found) return undefined
  const need = Number(found.need ?? 1)
  if (found.group !== undefined) return need <= mostPeople ? { group: found.group, need } : undefined
  const people = [...new Set(found.people!.split(','))]
  return need <= people.length && people.length <= mostPeople ? { people, need } : undefined
}

/**
 * A line of the same people as an earlier one; undefined if there is none. Nobody knows whether it means one yes or two, so
 * it is refused.
 */
export const repeatedLine = (texts: readonly string[]): string | undefined => {
  const seen = new Set<string>()
  return texts.find((text) => {
    const line = readLine(text)
    if (!line) return false
    const people = line.group ?? line.people.toSorted().join()
    if (seen.has(people)) return true
    seen.add(people)
    return false
  })
}

export const repeatedForm = 'must name the same people only once; with a higher need, more of them must agree'

export const lineForm =
  'must be a phone number in E.164 such as +12025550101, several with commas, or a group such as @sre or @sre:2'

const examples = '+12025550101 or @sre:2'

/** The line of a text that `lineText` accepts. */
export const parseLine = (text: string): Line => {
  const line = readLine(text)
  if (!line) throw new TypeError(`Not a line of approvers: ${text}`)
  return line
}

/** Checks the lines of a setting or a flag, with its name as the user knows it. Throws a usage error. */
export const checkedLines = (texts: readonly string[], name: string): string[] => {
  if (texts.length === 0) throw usageError(`${name} must not be empty`, `Example: ${examples}`)
  const lines = texts.map((text) => {
    const line = plainLine(text)
    if (line.length <= mostLength && readLine(line)) return line
    throw usageError(`${name} ${lineForm}: "${text}"`, `Example: ${examples}`)
  })
  const repeated = repeatedLine(lines)
  if (repeated === undefined) return lines
  throw usageError(`${name} ${repeatedForm}: "${repeated}"`, 'Example for two members of a group: @sre:2')
}

/** The lines of a setting, with spaces between them. Throws a usage error that names the setting. */
export const readLines = ({ value, name }: { value: string; name: string }): string[] =>
  checkedLines(
    value.split(/\s+/).filter((word) => word !== ''),
    name,
  )

/** The only person that lines name; undefined if they name a group or several people. */
export const onlyPerson = (texts: readonly string[]): string | undefined => {
  const [line, ...others] = texts.map(parseLine)
  return line && others.length === 0 && line.group === undefined && line.people.length === 1
    ? line.people[0]
    : undefined
}
