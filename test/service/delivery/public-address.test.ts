import { expect, test } from 'vitest'
import { checkPublicUrl } from '../../../src/service/delivery/public-address.ts'

const check = (url: string) => () => checkPublicUrl('url', url, false)

test.each([
  'https://127.0.0.1/',
  'https://0x7f.1/',
  'https://2130706433/',
  'https://169.254.169.254/latest',
  'https://100.64.0.1/',
  'https://[::ffff:10.0.0.1]/',
  'https://[::127.0.0.1]/',
  'https://[::10.0.0.1]/',
  'https://[::ffff:0:10.0.0.1]/',
  'https://[64:ff9b::10.0.0.1]/',
  'https://[64:ff9b:1::10.0.0.1]/',
  'https://[2002:a00:1::]/',
  'https://[fec0::1]/',
  'https://[fd00:ec2::254]/',
  'https://[4000::1]/',
  'https://user@example.com/',
  'http://example.com/',
])('%s is not on the public internet', (url) => {
  expect(check(url)).toThrow(/https URL|public internet/)
})

test.each(['https://example.com/', 'https://93.184.216.34/', 'https://[2606:2800:220:1::1]/'])(
  '%s is on the public internet',
  (url) => {
    expect(check(url)).not.toThrow()
  },
)
