import { rowsIn } from '../../client/answer-data.ts'
import { audit } from '../../contract/audit.ts'
import { SvcError, usageError } from '../../core/errors.ts'
import {
  type AuditHead,
  type ChainCheck,
  type ChainRow,
  genesisHash,
  readAuditHead,
  verifyChain,
} from '../../receipt/chain.ts'
import { extended } from '../operation/operation-command.ts'
import { defineCommand } from '../program/define-command.ts'
import type { Context } from '../context/context.ts'
import { resolveOrg } from '../context/organization.ts'
import { parseJson } from '../../core/parse-json.ts'
import { inSeconds } from '../terminal/relative-time.ts'
import { readJson, readText } from '../terminal/input-file.ts'

/** `decideApproval: denied`: an action with the state that it led to, because a narrow terminal leaves out the changes. */
const actionText = (action: unknown, { changes }: Record<string, unknown>): string => {
  const [field, state] = Array.isArray(changes) ? (changes as unknown[]) : []
  return field === 'status' && state !== undefined ? `${String(action)}: ${String(state)}` : String(action)
}

/** `2030-01-31 12:00:00Z`: a log is compared with others, so its times are exact. */
const timeText = (at: unknown): string => inSeconds(String(at)).replace('T', ' ')

export const auditExtensions = extended([audit.listAudit], () => ({
  texts: { action: actionText, at: timeText },
}))

const broken = (detail: string): SvcError =>
  new SvcError('failed', 'audit_broken', 'The audit chain is not valid', { detail })

const unchecked = (detail: string): SvcError =>
  new SvcError('failed', 'head_not_valid', 'The audit chain could not be checked', {
    detail,
    hint: 'Without --head, svc audit verify checks the chain alone',
  })

type Saved = { jws?: unknown; data?: { head?: { jws?: unknown } } } | null

/** The statements in saved heads, one or in lines, or in events of `svc events tail -o ndjson`. */
const statementsIn = (text: string): string[] | undefined => {
  const whole = parseJson(text)
  const values = whole === undefined ? text.split('\n').filter(Boolean).map(parseJson) : [whole]
  if (values.includes(undefined)) return undefined
  return (values as Saved[]).flatMap((saved) => {
    const jws = saved?.jws ?? saved?.data?.head?.jws
    return typeof jws === 'string' ? [jws] : []
  })
}

const readHeads = async (file: string, jwks: string | undefined, context: Context): Promise<AuditHead[]> => {
  const name = file === '-' ? 'standard input' : file
  const statements = statementsIn(await readText(file, context.io, '--head'))
  if (statements === undefined) throw usageError(`--head: ${name} is not valid JSON, nor JSON in lines`)
  if (statements.length === 0)
    throw usageError(`--head: ${name} contains no head`, 'svc audit head -o json > head.json')
  const client = await context.client()
  const keys = jwks
    ? await readJson(jwks, context.io, '--jwks')
    : JSON.parse((await client.raw({ method: 'GET', path: '/.well-known/jwks.json', effect: 'read' })).body)
  const heads: AuditHead[] = []
  for (const jws of statements) {
    const head = await readAuditHead(jws, keys as Parameters<typeof readAuditHead>[1])
    if (head) heads.push(head)
    else if (statements.length > 1)
      throw unchecked(`${name} contains a head that was not signed by this service`)
  }
  if (heads.length === 0) throw unchecked(`${name} is not a head that was signed by this service`)
  return heads
}

/**
 * Checks a chain whose rows arrive in pages, newest first, and remembers which heads they match. Rows that are appended
 * meanwhile are not part of it.
 */
const createChainCheck = (heads: readonly AuditHead[]) => {
  let rows = 0
  let newest: ChainRow | undefined
  /** The oldest row so far, with which the next page must end. */
  let oldest: ChainRow | undefined
  let broken: Extract<ChainCheck, { ok: false }> | undefined
  const met = new Set<AuditHead>()
  const bySeq = new Map<number, AuditHead[]>()
  for (const head of heads) bySeq.set(head.seq, [...(bySeq.get(head.seq) ?? []), head])
  const check = (page: readonly ChainRow[], from?: { seq: number; hash: string }): void => {
    const checked = verifyChain(page, from)
    // Later pages are older, and the first fault of the chain is reported.
    if (!checked.ok) broken = checked
  }
  return {
    met,
    add: (page: readonly ChainRow[]): void => {
      // Oldest first, whatever the order of the service is.
      const sorted = page.toSorted((a, b) => a.seq - b.seq)
      const [first] = sorted
      if (!first) return
      check([...sorted, ...(oldest ? [oldest] : [])], { seq: first.seq - 1, hash: first.prev_hash })
      for (const { seq, hash } of sorted)
        for (const head of bySeq.get(seq) ?? []) if (head.hash === hash) met.add(head)
      rows += sorted.length
      oldest = first
      newest ??= sorted.at(-1)
    },
    progress: () => `${rows} of ${newest?.seq ?? 0} rows checked`,
    end: () => {
      if (oldest) check([oldest])
      return { broken, newest, rows }
    },
  }
}

/** `svc audit verify`: recomputes every hash locally and compares the chain with saved heads. */
export const registerAudit = defineCommand<{ org?: string; head?: string; jwks?: string }>({
  name: 'verify',
  summary: 'Verify the audit chain, and a head that was saved earlier',
  options: {
    '--org <org>': 'Organization, id or slug; default: the chain of the service itself',
    '--head <file>': 'Heads that were saved earlier: from svc audit head -o json or an event',
    '--jwks <file>': 'File with the keys of the service; default: fetched from the service',
  },
  examples: ['svc audit verify --org acme --head head.json'],
  scope: 'read',
  action: async ({ options }, context) => {
    const wanted = options.org ?? (await context.settings()).org?.value
    const org_id = wanted ? (await resolveOrg(wanted, context)).id : undefined
    const client = await context.client()
    const heads = options.head ? await readHeads(options.head, options.jwks, context) : []
    const chain = createChainCheck(heads)
    const { stderr, signal } = context.io
    const tell = (text: string): void => void (stderr.isTTY && stderr.write(`\r\x1b[K${text}`))
    try {
      for await (const page of client.pages(audit.listAudit, { org_id }, { signal })) {
        chain.add(rowsIn(audit.listAudit, page))
        if (page.links?.next !== undefined) tell(chain.progress())
      }
    } finally {
      tell('')
    }
    const { broken: fault, newest, rows } = chain.end()
    if (fault) throw broken(`Row ${fault.seq}: ${fault.reason}`)
    const own = heads.filter(({ org_id: of }) => (newest?.org_id ?? org_id ?? of) === of)
    if (heads.length > 0 && own.length === 0) throw usageError('The head belongs to another chain')
    const lost = own.find((head) => head.seq !== 0 && !chain.met.has(head))
    if (lost) throw broken(`Row ${lost.seq} does not match the saved head`)
    const output = await context.output()
    await output.report('The chain is valid', {
      valid: true,
      rows,
      seq: newest?.seq ?? 0,
      hash: newest?.hash ?? genesisHash,
      head: own.length === 0 ? null : Math.max(...own.map(({ seq }) => seq)),
    })
  },
})
