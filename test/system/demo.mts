import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startService, svc, type Ended } from '../e2e/processes.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { createPhone, launch } from './page-phone.ts'

// `npm run demo -- --browser`: enroll, approve and verify with a browser as the phone, and save a screenshot of each screen.

const pictures = fileURLToPath(new URL('../../demo-pictures/', import.meta.url))
rmSync(pictures, { recursive: true, force: true })
mkdirSync(pictures)

const folder = temporaryFolder()
const key = 'svc_op_browser_demo_0123456789012345678901234567890'
const service = await startService(join(folder.path, 'data'), key, ['--dev'])
const browser = await launch()
const env = {
  SVC_BASE_URL: service.baseUrl,
  SVC_API_KEY: key,
  SVC_CONFIG_DIR: join(folder.path, 'config'),
  SVC_DEFAULT_MOBILE: '+12025550101',
}
const origin = `http://localhost:${new URL(service.baseUrl).port}`

const run = async (...args: string[]): Promise<Ended> => {
  console.log(`$ svc ${args.map((word) => (/^[\w@+=:,./-]+$/.test(word) ? word : `'${word}'`)).join(' ')}`)
  const ended = await svc(args, env)
  console.log((ended.stderr + ended.stdout).trimEnd())
  return ended
}
const must = ({ exit }: Ended, wanted = 0): void => {
  if (exit !== wanted) throw new Error(`it exited with ${exit} and not with ${wanted}`)
}

try {
  must(await run('org', 'create', '--name', 'Acme Corp', '--slug', 'acme', '-o', 'id'))
  const ada = ['--first-name', 'Ada', '--last-name', 'Lovelace', '--email', 'ada@acme.example']
  must(
    await run(
      'user',
      'create',
      '--org',
      'acme',
      ...ada,
      '--country-code',
      '+1',
      '--mobile',
      '2025550101',
      '-o',
      'id',
    ),
  )
  const enrolled = await run('user', 'enroll', '1', '--org', 'acme', '-o', 'json')
  must(enrolled)

  let taken = 0
  const phone = await createPhone(browser, origin)
  const picture = async (name: string): Promise<void> => {
    const path = join(pictures, `${++taken}-${name}.png`)
    await phone.page.screenshot({ path })
    console.log(`  [the phone] ${name}: ${path}`)
  }
  await phone.page.goto((JSON.parse(enrolled.stdout) as { url: string }).url)
  await phone.page.getByRole('button', { name: 'Register this device' }).waitFor()
  await picture('enroll')
  await phone.tap('Register this device')
  await phone.sees('This device is registered')
  await phone.tap('Continue')
  await phone.sees(/Turn on notifications|No open requests/)
  if (await phone.page.getByRole('button', { name: 'Not now' }).isVisible()) {
    await picture('notifications')
    await phone.tap('Not now')
  }
  await phone.sees('No open requests')
  await picture('inbox')

  const receipt = join(folder.path, 'receipt.json')
  const asking = run(
    'approve',
    'request',
    'Deploy 4.2 to production',
    '--reason',
    'Fixes the login outage',
    '--receipt',
    receipt,
  )
  await phone.page.getByText('Deploy 4.2 to production').first().waitFor()
  await picture('waiting')
  if (await phone.page.getByRole('button', { name: 'Approve' }).isHidden())
    await phone.page.getByText('Deploy 4.2 to production').first().click()
  await phone.page.getByRole('button', { name: 'Approve', exact: true }).waitFor()
  await picture('request')
  await phone.tap('Approve')
  must(await asking)
  await phone.sees(/Approved/)
  await picture('approved')

  const keys = join(folder.path, 'keys.json')
  writeFileSync(keys, await (await fetch(`${origin}/.well-known/jwks.json`)).text())
  must(
    await run(
      'approve',
      'verify',
      receipt,
      '--jwks',
      keys,
      '--action',
      'Deploy 4.2 to production',
      '--allow-dev',
    ),
  )
  if (phone.misdeeds.length > 0) throw new Error(phone.misdeeds.join('; '))
  console.log(`\nEnrolled, approved, verified. ${taken} pictures in demo-pictures/.`)
} catch (error) {
  console.error(`The demo stopped: ${error instanceof Error ? error.message : String(error)}`)
  process.exitCode = 1
} finally {
  await browser.close()
  await service.stop()
  folder.remove()
}
