import { isDeepStrictEqual } from 'node:util'
import { influenceOf } from '../../asking/separation.ts'
import { SvcError } from '../../core/errors.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import { createApprovalGuard } from '../approve/approval-guard.ts'
import { requestingKey } from '../approve/separation.ts'
import { type Context, createContext } from '../context/context.ts'
import { resolveOrgNow } from '../context/organization.ts'
import { ignoreSurroundings } from '../context/own-settings.ts'
import { wordsOfLine } from './hook-line.ts'

/**
 * `broken`: every call is blocked; `strict`: every call that no rule holds is. `open`: the host runs a call if the hook does not
 * answer in time; `unknown`: it may.
 */
export type HookCheck = {
  name: string
  state: 'ok' | 'missing' | 'broken' | 'strict' | 'open' | 'unknown'
  detail: string
}

/** Where a hook sends its requests, and with which key, as the flags of its line say. */
export type Connection = Partial<
  Record<'profile' | 'baseUrl' | 'keyFile' | 'cacert' | 'org' | 'to', string | undefined>
> & {
  /** The variables that the line sets; of those of this shell, none chooses the service or the key. */
  variables?: Readonly<Record<string, string>> | undefined
}

/** What an installed line runs: the program of svc, the tools that it holds, and its connection. */
export const linePartsOf = (line: string): { program: string[]; match: string; connection: Connection } => {
  const words = wordsOfLine(line)
  const start = words.findIndex((word) => word !== '/usr/bin/env' && !/^[A-Z_]+=/.test(word))
  const program = words.slice(start, words.indexOf('hook', start))
  const flag = (name: string): string | undefined => {
    const at = words.indexOf(`--${name}`, start)
    return at === -1 ? undefined : words[at + 1]
  }
  const set = words.slice(0, start).flatMap((word) => {
    const [, name, value = ''] = /^([A-Z_]+)=([^]*)$/.exec(word) ?? []
    return name === undefined ? [] : [[name, value] as const]
  })
  const connection = {
    profile: flag('profile'),
    baseUrl: flag('base-url'),
    keyFile: flag('key-file'),
    cacert: flag('cacert'),
    org: flag('org'),
    to: flag('to'),
    variables: Object.fromEntries(set),
  }
  return { program, match: flag('match') ?? '', connection }
}

export const typedConnection = ({ globals }: Context): Connection => {
  const { profile, baseUrl, keyFile, cacert } = globals
  return { profile, baseUrl, keyFile, cacert }
}

export const isSameConnection = (one: Connection, other: Connection): boolean =>
  isDeepStrictEqual(JSON.parse(JSON.stringify(one)), JSON.parse(JSON.stringify(other)))

/** A service that does not answer must not hold up the command. */
const mostMs = 5_000

const keyRow = (scopes: readonly string[] | undefined): HookCheck => {
  if (!scopes) return { name: 'key', state: 'ok', detail: 'the service does not report its scopes' }
  const too = influenceOf(scopes)
  return too.length > 0
    ? {
        name: 'key',
        state: 'broken',
        detail: `can influence who approves (${too.join(', ')}); a hook refuses it`,
      }
    : { name: 'key', state: 'ok', detail: 'can only request approvals' }
}

/** Only of an installed line, which says whom it asks. */
const approverRows = (to: string | undefined, org: string | undefined): HookCheck[] =>
  to === undefined
    ? [
        {
          name: 'approver',
          state: 'strict',
          detail: `nobody is named with --to, so a call that no rule of the organization holds is blocked; to see whom rules ask, such as: svc rule test${org === undefined ? '' : ` --org ${shellQuote(org)}`} --tool 'Claude Code' Bash`,
        },
      ]
    : []

/** Whether the service answers, the key can only request approvals, the organization exists, and somebody is named. */
export const examineConnection = async (
  { variables, org, to, ...flags }: Connection,
  { io }: Context,
): Promise<HookCheck[]> => {
  const late = AbortSignal.timeout(mostMs)
  const { SVC_CONFIG_DIR: _, XDG_CONFIG_HOME: __, ...rest } = io.env
  const env = variables === undefined ? io.env : { ...rest, ...variables }
  const context = createContext(
    { ...io, env, signal: AbortSignal.any([io.signal, late]) },
    createApprovalGuard,
  )
  const given = Object.entries(flags).filter(([, value]) => value !== undefined)
  Object.assign(context.globals, Object.fromEntries(given))
  ignoreSurroundings(context)
  let address = flags.baseUrl ?? ''
  try {
    address = (await context.settings()).baseUrl.value
    const key = keyRow((await requestingKey(context))?.scopes)
    if (org !== undefined) await resolveOrgNow(org, context)
    const named = to ?? (await context.settings()).defaultMobile?.value
    const approvers = variables === undefined ? [] : approverRows(named, org)
    return [{ name: 'service', state: 'ok', detail: `${address} answers` }, key, ...approvers]
  } catch (error) {
    if (!(error instanceof SvcError) || io.signal.aborted) throw error
    const why = late.aborted ? `no answer within ${mostMs / 1000} seconds` : error.message
    return [{ name: 'service', state: 'broken', detail: address === '' ? why : `${address}: ${why}` }]
  } finally {
    await context.close()
  }
}
