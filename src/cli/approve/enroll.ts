import { existsSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { recordIn, rowsIn } from '../../client/answer-data.ts'
import { device } from '../../contract/device.ts'
import type { Input, Operation } from '../../contract/operation.ts'
import { user } from '../../contract/user.ts'
import { usageError } from '../../core/errors.ts'
import { quoted, shellQuote } from '../../core/shell-quote.ts'
import { checkShown } from '../operation/run-operation.ts'
import type { Context } from '../context/context.ts'
import { findOrg } from '../context/organization.ts'
import type { Typed } from '../program/define-command.ts'
import type { Extension, Extensions } from '../operation/operation-command.ts'
import type { KeyFile } from '../context/key-file.ts'
import { wholeNumber } from '../../core/phone-parts.ts'

type Options = { software?: boolean; file?: string } & Record<string, unknown>

/** What activates a key of a user who had a device before. */
const pendingLine = async (
  { id, comparison_code: code }: { id: string; comparison_code: string },
  member: { org_id: number; user_id: string },
  context: Context,
): Promise<string> => {
  const client = await context.client()
  const answer = await client.call(device.listDevices, member, { signal: context.io.signal })
  const org = String(member.org_id)
  const revokes = rowsIn(device.listDevices, answer)
    .filter(({ state }) => state === 'active')
    .map((one) => `svc user devices revoke ${shellQuote(one.id)} --org ${shellQuote(org)}`)
  const approve = `svc user devices approve ${shellQuote(id)} --org ${shellQuote(org)} --comparison-code ${shellQuote(code)}`
  return revokes.length === 0
    ? `It is pending: the user had a device before. Approve it: ${approve}`
    : `It is pending: the user has another device. If that one is lost: ${revokes.join('; ')}; then ${approve}`
}

const enrollSoftware = async (typed: Typed<Options>, context: Context): Promise<void> => {
  const { options } = typed
  const { io } = context
  const { gatherInput } = await import('../operation/gather-input.ts')
  const { checkPrivateFolder } = await import('../context/private-file.ts')
  const { keyFilePath } = await import('../context/key-file.ts')
  const { reserveFile } = await import('../terminal/output-file.ts')
  await checkShown(device.registerDevice, context)
  const { input } = await gatherInput(device.createEnrollment, typed, context)
  const { org_id, user_id } = input as { org_id: number; user_id: string }
  const path = options.file ?? keyFilePath(io, org_id, user_id)
  if (options.dryRun) {
    const { showDryRun } = await import('../operation/dry-run.ts')
    return showDryRun(device.createEnrollment, input, {}, context, { file: path })
  }
  const client = await context.client()
  const call = async <O extends Operation>(operation: O, values: Input<O>, fields: readonly string[]) =>
    recordIn(operation, await client.call(operation, values, { signal: io.signal }), fields)

  const person = await call(user.getUser, { orgId: org_id, userId: user_id }, ['mobile'])
  const mobile = wholeNumber(person)!
  const name = [person.first_name, person.last_name].filter((part) => typeof part === 'string').join(' ')
  const { name: organization } = await findOrg(String(org_id), context)
  if (options.file === undefined) mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  if (options.file === undefined && existsSync(path))
    throw usageError(
      `${path} already exists and is not overwritten`,
      `If the device of this key is lost: rm ${quoted(path)}, and run the command again`,
    )
  const file = reserveFile(path, 'file', io)
  let data: { id: string; comparison_code: string; state?: string; file: string }
  try {
    checkPrivateFolder(dirname(file.path))
    const { createSoftwareKey, register } = await import('../../client/software-authenticator.ts')
    const { token, rp_id, origin, challenge, user_handle } = await call(
      device.createEnrollment,
      { org_id, user_id },
      ['token', 'rp_id', 'origin', 'challenge', 'user_handle'],
    )
    const key = createSoftwareKey('ES256', { rpId: rp_id, userHandle: user_handle })
    const registered = await call(
      device.registerDevice,
      {
        token,
        name: 'Software key',
        software: true,
        response: register(key, { challenge, origin, rpId: rp_id }),
      },
      ['id', 'comparison_code'],
    )
    const saved: KeyFile = {
      version: 1,
      device_id: registered.id,
      org_id,
      user_id,
      mobile,
      ...(name !== '' && { name }),
      ...(organization !== undefined && { organization }),
      key,
    }
    file.write(`${JSON.stringify(saved, null, 2)}\n`)
    data = { ...registered, file: file.path }
  } catch (error) {
    file.giveUp()
    throw error
  }
  const output = await context.output()
  output.note(`Software authenticator saved in ${file.path}; for development only`)
  if (data.state === 'pending') output.warn(await pendingLine(data, { org_id, user_id }, context))
  await output.report('Device registered', data)
}

/** `svc user enroll`: a link for a phone, as a QR code on a terminal; with --software, a key file that can sign immediately. */
const enroll: Extension = {
  options: {
    '--software': 'Create a key file instead; requires a service that runs with --dev',
    '--file <file>': 'With --software: the new file; default: next to the profiles',
  },
  examples: ['svc user enroll 7 --org acme --software'],
  action: async (typed: Typed<Options>, context) => {
    const { options } = typed
    if (options.software) return enrollSoftware(typed, context)
    if (options.file !== undefined) throw usageError('--file requires --software')
    const { format } = await context.output()
    if (context.io.stdout.isTTY && format === 'table' && !options.dryRun) {
      const { enrollPhone } = await import('./enroll-phone.ts')
      return enrollPhone(typed, context)
    }
    const { runOperation } = await import('../operation/run-operation.ts')
    return runOperation(device.createEnrollment, typed, context)
  },
}

export const enrollment: Extensions = new Map([[device.createEnrollment, enroll]])
