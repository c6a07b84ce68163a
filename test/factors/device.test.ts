import { describe, expect, test } from 'vitest'
import { good, hostile, resultOf, strict } from './evidence.ts'

const device = (change: object) =>
  resultOf(strict, hostile({ ...good, device: { ...good.device, ...change } }), 'device')

describe('a device', () => {
  const imei = '490154203237518'

  test.each([
    [{}, 'PASS', 'the device is registered to this user'],
    [{ id: 'pixel-8', imei: null, known_imei: null }, 'PASS', 'the device is registered to this user'],
    [{ imei, known_imei: imei }, 'PASS', 'the device is registered to this user'],
    [{ imei }, 'PASS', 'the device is registered to this user'],
    [{ registered_to: 8 }, 'FAIL', 'the device is not registered to this user'],
    [{ registered_to: '7' }, 'FAIL', 'the device is not registered to this user'],
    [{ registered_to: null }, 'FAIL', 'the device is not registered to this user'],
    [{ revoked: true }, 'FAIL', 'the device is revoked'],
    [{ known_imei: imei }, 'FAIL', 'the IMEI does not match the registered device'],
    [{ imei: '356938035643809', known_imei: imei }, 'FAIL', 'the IMEI does not match the registered device'],
    [{ revoked: 0 }, 'FAIL', 'the device cannot be read'],
    [{ revoked: undefined }, 'FAIL', 'the device cannot be read'],
    [{ id: '' }, 'FAIL', 'the device cannot be read'],
    [{ id: Number.NaN }, 'FAIL', 'the device cannot be read'],
  ])('%o: %s', (change, result, reason) => {
    expect(device(change)).toMatchObject({ result, reason })
  })

  test('without a user is not that of a user without an ID', () => {
    const evidence = hostile({
      ...good,
      user_id: undefined,
      device: { ...good.device, registered_to: undefined },
    })
    expect(resultOf(strict, evidence, 'device').result).toBe('FAIL')
  })

  test('does not reveal its IMEI', () => {
    expect(JSON.stringify(device({ imei, known_imei: imei }))).not.toContain(imei)
  })
})
