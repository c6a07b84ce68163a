import type { Command, Option } from 'commander'
import { usageError, type SvcError } from '../../core/errors.ts'
import { flagCalled, operandsOf, type Reading, type Token } from './reading.ts'
import { arity, correctedLine, helpOf, named, typeInstead, type Suggesting } from './suggestion.ts'

// More arguments than a command takes. A suggestion never leaves one out.

const isPhone = (text: string): boolean => /^\+\d{7,15}$/.test(text)

/** The flag that an argument probably belongs to: `--org` for `svc user list acme`. */
const flagFor = (at: Command, text: string, tokens: readonly Token[]): Option | undefined => {
  const free = at.options.filter(
    (option) => option.required && !tokens.some((token) => token.option === option),
  )
  const called = (...names: string[]): Option | undefined => free.find(({ long }) => names.includes(long!))
  if (isPhone(text)) return called('--mobile', '--to')
  if (text.includes('@')) return called('--email')
  const choice = free.find(({ description }) =>
    /\(([\w|-]+)/.exec(description)?.[1]?.split('|').includes(text),
  )
  if (choice) return choice
  // A name is more likely than an organization where something gets one.
  const name = at.options.find(({ long }) => long === '--name' || long === '--first-name')
  if (name) return name.long === '--name' ? called('--name') : undefined
  return /^[a-z0-9-]{1,60}$/.test(text) ? called('--org') : undefined
}

const isText = (at: Command): boolean =>
  at.registeredArguments.length === 1 && at.registeredArguments[0]!.name() === 'action'

/** `svc api GET organizations` as `svc api /organizations`. */
const apiCall = (reading: Reading): Reading | undefined => {
  const [method, path, ...more] = operandsOf(reading)
  if (!method || !path || more.length > 0 || !/^[a-z]+$/i.test(method.text)) return undefined
  const at = reading.at
  const verb = method.text.toUpperCase()
  const flag = flagCalled('--method', at)
  const tokens = reading.tokens.flatMap((token): Token[] => {
    if (token === method) return []
    if (token !== path) return [token]
    const operand: Token = { ...path, text: path.text.startsWith('/') ? path.text : `/${path.text}` }
    if (verb === 'GET') return [operand]
    return [
      operand,
      { kind: 'flag', text: '--method', option: flag },
      { kind: 'value', text: verb, option: flag },
    ]
  })
  return { ...reading, tokens }
}

/** `--all true`: the flag and the word after it. */
const switchWithValue = ({ tokens }: Reading): [Token, Token] | undefined => {
  const i = tokens.findIndex(
    ({ kind, option }, n) =>
      kind === 'flag' &&
      option &&
      !option.required &&
      !option.optional &&
      tokens[n + 1]?.kind === 'operand' &&
      /^(?:true|false|yes|no|on|off)$/.test(tokens[n + 1]!.text),
  )
  return i < 0 ? undefined : [tokens[i]!, tokens[i + 1]!]
}

/** The reading with a flag that takes no value turned on, or off by its negation. Undefined if it has none. */
const switched = (reading: Reading, flag: Token, value: string): Reading | undefined => {
  const on = ['true', 'yes', 'on', '1'].includes(value) === !flag.option!.negate
  const long = flag.option!.long!.replace(/^--no-/, '--')
  const wanted = flagCalled(on ? long : long.replace(/^--/, '--no-'), reading.at)
  if (!wanted) return undefined
  const tokens = reading.tokens.map((token): Token =>
    token === flag ? { kind: 'flag', text: wanted.long!, option: wanted } : token,
  )
  return { ...reading, tokens }
}

/** `--not-requester=false` or `--not-requester false`. */
export const valueForSwitch = (
  reading: Reading,
  flag: Token,
  value: { text: string; token?: Token },
  how: Suggesting,
): SvcError => {
  const rest = { ...reading, tokens: reading.tokens.filter((token) => token !== value.token) }
  const meant = switched(rest, flag, value.text)
  const line = meant && correctedLine(meant, how)
  return usageError(`${flag.option!.long} does not take a value`, line ?? helpOf(reading.at))
}

/** The usage error for more arguments than a command takes. */
export const surplus = (reading: Reading, how: Suggesting): SvcError => {
  const { at, tokens } = reading
  const operands = operandsOf(reading)
  const { most } = arity(at)
  const wrong =
    most === 0
      ? `${named(at)} takes no arguments`
      : `Too many arguments for ${named(at)}: it takes ${most}, not ${operands.length}`

  const given = switchWithValue(reading)
  if (given) return valueForSwitch(reading, given[0], { text: given[1].text, token: given[1] }, how)

  const [first] = operands
  if (named(at) === 'svc api') {
    const call = apiCall(reading)
    return usageError(wrong, call ? typeInstead(call, how) : helpOf(at))
  }
  if (first && isText(at)) {
    const text = operands.map((operand) => operand.text).join(' ')
    const quoted = tokens.flatMap((token): Token[] =>
      token === first ? [{ kind: 'operand', text }] : token.kind === 'operand' ? [] : [token],
    )
    return usageError(
      `The action must be one argument, not ${operands.length}: put it in quotes`,
      typeInstead({ ...reading, tokens: quoted }, how),
    )
  }
  if (most === 0 && operands.length === 1) {
    const option = flagFor(at, first!.text, tokens)
    if (!option) return usageError(wrong, helpOf(at))
    const moved = tokens.flatMap((token): Token[] =>
      token === first
        ? [
            { kind: 'flag', text: option.long!, option },
            { kind: 'value', text: token.text, option },
          ]
        : [token],
    )
    return usageError(
      `${wrong}; did you mean ${option.long}?`,
      typeInstead({ ...reading, tokens: moved }, how),
    )
  }
  if (most === 1 && operands.every(({ text }) => /^(?:\d+|[a-z]+_\w+)$/.test(text))) {
    const lines = operands.map((one) =>
      correctedLine(
        { ...reading, tokens: tokens.filter((token) => token.kind !== 'operand' || token === one) },
        how,
      ),
    )
    const line = lines.join('; ')
    if (!lines.includes(undefined) && line.length <= 300) return usageError(wrong, line)
  }
  return usageError(wrong, helpOf(at))
}
