import { encode } from 'uqr'
import { expect, test } from 'vitest'
import { qrCode } from '../../../src/cli/approve/enroll-phone.ts'

const link = `https://svc.example.com/approver#enroll=${'x'.repeat(43)}`

/** The modules that a dark terminal with light text shows. True is dark. */
const scanned = (code: string): boolean[][] =>
  code
    .trimEnd()
    .split('\n')
    .flatMap((line) => [
      [...line].map((char) => char === ' ' || char === '▄'),
      [...line].map((char) => char === ' ' || char === '▀'),
    ])

test('a QR code contains every module of the link and a quiet zone of four', () => {
  const { code, width } = qrCode(link, false)
  const modules = scanned(code)
  const { data } = encode(link, { border: 0, ecc: 'L' })
  expect(width).toBe(data.length + 8)
  expect(modules.slice(4, 4 + data.length).map((row) => row.slice(4, 4 + data.length))).toEqual(data)
  const around = [...modules.slice(0, 4), ...modules.slice(4 + data.length)].flat()
  expect(around).not.toContain(true)
  expect(modules.every((row) => !row.slice(0, 4).includes(true) && !row.slice(-4).includes(true))).toBe(true)
})

test('a QR code is dark on light in its own colours on any terminal', () => {
  const plain = qrCode(link, false).code.trimEnd().split('\n')
  const coloured = qrCode(link, true).code.trimEnd().split('\n')
  expect(coloured).toEqual(plain.map((line) => `\u001B[38;5;231;48;5;16m${line}\u001B[0m`))
})
