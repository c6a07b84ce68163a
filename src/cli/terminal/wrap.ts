import type { OutputStream } from './io.ts'

/** Parts as lines of at most `width` characters; a longer part stays whole. */
const joined = (parts: readonly string[], between: string, width: number): string[] =>
  parts.reduce<string[]>((lines, part) => {
    const longer = lines.length > 0 ? `${lines.at(-1)}${between}${part}` : undefined
    if (longer !== undefined && longer.length <= width) lines[lines.length - 1] = longer
    else lines.push(part)
    return lines
  }, [])

/** Lines of at most `width` characters, broken at spaces and in lists such as `a|b|c`; a longer word stays whole. */
export const wrap = (text: string, width: number): string[] =>
  joined(
    text.split(' ').flatMap((word) => joined(word.split(/(?<=\|)/), '', width)),
    ' ',
    width,
  )

/** `svc user list --org acme`, but not `svc user list shows them`: a command is copied, so it must stay in one line. */
const isCommand = (text: string): boolean =>
  /^(?:svc|curl|sudo|npm) /.test(text) && !/[,;] | (?:or|shows|prints|lists|starts|says) /.test(text)

const wrapLine = (line: string, width: number): string[] => {
  const [label = ''] = /^(?:svc(?: [a-z]+){0,2}: |guard: |hint: |# | {2}(?=[^\s:]+:))/.exec(line) ?? []
  const text = line.slice(label.length)
  if (line.length <= width || text.startsWith(' ') || isCommand(text)) return [line]
  const [first, ...rest] = wrap(text, width - label.length)
  const margin = label === '# ' ? label : ' '.repeat(label.length)
  return [label + first!, ...rest.map((part) => margin + part)]
}

/** Messages for a person: on a terminal, a long line ends between words. */
export const fitted = (text: string, { isTTY, columns }: OutputStream): string =>
  isTTY
    ? text
        .split('\n')
        .flatMap((line) => wrapLine(line, columns))
        .join('\n')
    : text
