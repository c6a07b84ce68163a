import { credentialText } from '../../core/credential-text.ts'
import { contains, readAddress, readNetwork } from '../../factors/network.ts'
import { localProgram } from '../call/caller.ts'
import type { RowData } from '../call/row-ids.ts'
import { ownerOf } from './key-owner.ts'
import { muteIdOf, requesterOf } from './mutes.ts'
import type { ApprovalRow } from './rows.ts'

type Origin = RowData<'listSessions'>['sessions'][number]['requests'][number]['origin']

/** The credential in parts. `verified_as` was written from the name of the key, which is stored beside it. */
const credentialOf = (row: ApprovalRow): Origin['credential'] => {
  const { verified_as, key_name: name } = row
  if (verified_as === localProgram) return null
  const named = (['key', 'agent'] as const).find((one) => verified_as === credentialText(one, name))
  const kind = row.asked_by < 0 ? 'member' : (named ?? 'token')
  return { kind, name, ...ownerOf(row, 'owner') }
}

/** The first of these networks (CIDR) that contains the address. */
const networkOf = (text: string | null, networks: readonly string[]): string | null => {
  const address = readAddress(text)
  if (!address) return null
  const found = networks.find((one) => {
    const network = readNetwork(one)
    return network !== undefined && contains(network, address)
  })
  return found ?? null
}

/** Where a request came from. The only places of requesters that the service knows are the networks of the organization. */
export const originOf = (row: ApprovalRow, networks: readonly string[]): Origin => {
  const credential = credentialOf(row)
  return {
    id: muteIdOf(requesterOf(row)),
    credential,
    claimed_name: row.requester === credential?.name ? null : row.requester,
    address: row.asked_from,
    network: networkOf(row.asked_from, networks),
    via: row.by_rule === 1 ? 'rule' : row.asked_via,
  }
}
