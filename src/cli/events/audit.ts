import type { Command } from 'commander'
import { rowsIn } from '../../client/answer-data.ts'
import { audit } from '../../contract/audit.ts'
import { SvcError, usageError } from '../../core/errors.ts'
import { readAuditHead, type AuditHead, verifyChain } from '../../receipt/chain.ts'
import { noteScope } from '../program/command-node.ts'
import type { Context } from '../context/context.ts'
import { resolveOrg } from '../context/organization.ts'
import { readJson } from '../terminal/input-file.ts'

const broken = (detail: string): SvcError =>
  new SvcError('failed', 'audit_broken', 'The audit chain is not valid', { detail })

const readHead = async (file: string, jwks: string | undefined, context: Context): Promise<AuditHead> => {
  const saved = (await readJson(file, context.io, '--head')) as { jws?: unknown } | null
  const client = await context.client()
  const keys = jwks
    ? await readJson(jwks, context.io, '--jwks')
    : JSON.parse((await client.raw({ method: 'GET', path: '/.well-known/jwks.json', effect: 'read' })).body)
  const head = await readAuditHead(String(saved?.jws), keys as Parameters<typeof readAuditHead>[1])
  if (!head) throw broken(`${file} is not a head that was signed by this service`)
  return head
}

/** `svc audit verify`: recomputes every hash locally and compares the chain with a saved head. */
export const registerAudit = (group: Command, context: Context): void => {
  const command = group
    .command('verify')
    .description('Verify the audit chain, and a head that was saved earlier')
    .option('--org <org>', 'Organization, id or slug; default: the chain of the service itself')
    .option('--head <file>', 'Head that was saved earlier: svc audit head -o json > head.json')
    .option('--jwks <file>', 'File with the keys of the service; default: fetched from the service')
    .addHelpText('after', '\nExample:\n  svc audit verify --org acme --head head.json')

  noteScope(command, 'read')
  command.action(async () => {
    const options = command.opts<{ org?: string; head?: string; jwks?: string }>()
    const wanted = options.org ?? (await context.settings()).org?.value
    const org_id = wanted ? (await resolveOrg(wanted, context)).id : undefined
    const client = await context.client()
    const head = options.head ? await readHead(options.head, options.jwks, context) : undefined
    const answer = await client.call(audit.listAudit, { org_id }, { signal: context.io.signal })
    // Oldest first, whatever the order of the service is.
    const rows = rowsIn(audit.listAudit, answer).toSorted((a, b) => a.seq - b.seq)

    const result = verifyChain(rows)
    if (!result.ok) throw broken(`Row ${result.seq}: ${result.reason}`)
    if (head) {
      const kept = head.seq === 0 || rows[head.seq - 1]?.hash === head.hash
      if (head.org_id !== (rows[0]?.org_id ?? head.org_id))
        throw usageError('The head belongs to another chain')
      if (!kept) throw broken(`Row ${head.seq} does not match the saved head`)
    }
    const output = await context.output()
    await output.report('The chain is valid', {
      valid: true,
      rows: rows.length,
      seq: result.seq,
      hash: result.hash,
      head: head?.seq ?? null,
    })
  })
}
