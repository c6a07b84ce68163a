import type { Context } from '../context/context.ts'
import { checkCertificate } from './certificate.ts'
import { checkFiles, closeFiles } from './files.ts'
import { checkAddress, checkDelivery, checkKey, checkService, checkStore } from './service.ts'
import { failed, note, ok, type Finding } from './finding.ts'
import { checkAskKey, checkKeys } from './keys.ts'
import { checkTools } from './tools.ts'
import { checkFallback } from './verify-fallback.ts'

/** Each thing that a command needs, in the order in which it needs it; what rests on a failure is not asked. */
export const examine = async (context: Context, { fix }: { fix: boolean }): Promise<Finding[]> => {
  const findings: Finding[] = []
  let files = checkFiles(context.io)
  if (fix && files.state === 'fail') {
    findings.push(closeFiles(context.io))
    files = checkFiles(context.io)
  }
  findings.push(files)
  if (files.state === 'fail') return findings
  let settings
  try {
    settings = await context.settings()
  } catch (error) {
    return [...findings, failed('settings', error)]
  }
  const address = checkAddress(settings)
  findings.push(address)
  if (address.state === 'fail') return findings
  findings.push(await checkCertificate(context))
  const key = await checkKey(settings)
  findings.push(key)
  if (key.state !== 'fail') {
    const service = await checkService(context)
    findings.push(...service)
    if (service[0]?.state === 'ok') {
      findings.push(...(await checkDelivery(context)))
      findings.push(await checkStore(context))
      findings.push(...(await checkAskKey(context)), ...(await checkKeys(context)))
    }
  }
  findings.push(...(await checkTools(context)))
  findings.push(...checkFallback(settings))
  const { defaultMobile } = settings
  findings.push(
    defaultMobile
      ? ok('approver', `default approver: from the ${defaultMobile.source}`)
      : note('approver', 'no default approver', 'svc profile set default_mobile=+12025550101, or --to'),
  )
  return findings
}
