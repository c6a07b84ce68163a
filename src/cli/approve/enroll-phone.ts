import { encode } from 'uqr'
import { recordIn } from '../../client/answer-data.ts'
import { device } from '../../contract/device.ts'
import { safeLine } from '../../core/safe-text.ts'
import { isLoopbackHost } from '../../core/loopback.ts'
import type { Context } from '../context/context.ts'
import { gatherInput } from '../operation/gather-input.ts'
import type { Typed } from '../program/define-command.ts'
import { callTyped } from '../operation/typed-names.ts'
import { wantsColour } from '../terminal/output.ts'
import { inSeconds } from '../terminal/relative-time.ts'
import { fitted } from '../terminal/wrap.ts'

/** The empty modules around the code that a scanner needs. */
const quiet = 4
// Fixed colours of the 256, independent of the theme: a code must be dark on light on every terminal.
const dark = 16
const light = 231

/** A QR code for a terminal, two modules a line of text, and its width in columns. Without colours the terminal must be dark. */
export const qrCode = (text: string, colour: boolean): { code: string; width: number } => {
  const { data, size } = encode(text, { border: quiet, ecc: 'L' })
  const isLight = (row: number, column: number): boolean => !data[row]?.[column]
  const rows = Array.from({ length: Math.ceil(size / 2) }, (_, line) =>
    Array.from({ length: size }, (_, column) => {
      const [upper, lower] = [isLight(line * 2, column), isLight(line * 2 + 1, column)]
      return upper ? (lower ? '█' : '▀') : lower ? '▄' : ' '
    }).join(''),
  )
  const paint = (row: string): string => (colour ? `\u001B[38;5;${light};48;5;${dark}m${row}\u001B[0m` : row)
  return { code: rows.map((row) => `${paint(row)}\n`).join(''), width: size }
}

/** What follows the registration. A third-party service may not report it. */
const whatFollows: Record<string, string> = {
  otp: 'The phone then asks for a code that is sent to the user by SMS.',
  device: 'Another device of the user must then approve it, on the approver page under Devices.',
  admin:
    'The user has lost all earlier devices, so an administrator must then approve this one, on the approver page under Devices.',
}

/** Explains why a phone cannot open the link; undefined if it can. */
const whatPhonesNeed = (url: string): string | undefined => {
  const { protocol, hostname } = URL.canParse(url) ? new URL(url) : {}
  if (hostname === undefined) return undefined
  const how =
    'svc serve --public-url https://svc.example.com, with --tls-cert and --tls-key or behind a tunnel that has https'
  if (isLoopbackHost(hostname)) return `This link opens on this machine only. For a phone: ${how}`
  return protocol === 'https:' ? undefined : `Phones register over https only: ${how}`
}

/** Prints the link as a QR code, unless no phone can open it, and as text, and how long it is valid. */
export const enrollPhone = async (typed: Typed, context: Context): Promise<void> => {
  const { io, globals } = context
  const { input, extra } = await gatherInput(device.createEnrollment, typed, context)
  const client = await context.client()
  const answer = await callTyped(client, device.createEnrollment, input, { extra, signal: io.signal })
  const { url, expires_at, proof = '' } = recordIn(device.createEnrollment, answer, ['url'])
  const { code, width } = qrCode(url, wantsColour(io.stdout, { io, globals }))
  const noPhone = whatPhonesNeed(url)
  const isNarrow = width > io.stdout.columns
  if (!noPhone && !isNarrow) io.stdout.write(`\n${code}\n`)
  context.once = `${safeLine(url)}\n`
  const how = noPhone ? 'The link:' : 'Scan it with the phone of the user, or open this link on it:'
  const lines = [
    noPhone ?? (isNarrow && `The terminal is too narrow for the QR code: it requires ${width} columns.`),
    `${how}\n\n  ${safeLine(url)}\n`,
    `It registers one device, until ${inSeconds(safeLine(expires_at))}. Shown once.`,
    Object.hasOwn(whatFollows, proof) ? whatFollows[proof] : undefined,
  ]
  for (const line of lines) if (line) io.stdout.write(`${fitted(line, io.stdout)}\n`)
}
