import { usageError } from '../../core/errors.ts'
import { factors } from '../../contract/records.ts'
import type { Setting, Settings } from '../profile/settings.ts'

type Factor = (typeof factors)[number]

const named = ({ source }: Setting, variable: string, field: string): string =>
  source === 'environment' ? variable : `${field} of the profile`

const mobileOf = (setting: Setting): string => {
  if (/^\+[1-9]\d{6,14}$/.test(setting.value)) return setting.value
  throw usageError(
    `${named(setting, 'SVC_DEFAULT_MOBILE', 'default_mobile')} must be a phone number in E.164, not "${setting.value}"`,
    'SVC_DEFAULT_MOBILE=+12025550101, without spaces',
  )
}

const isFactor = (word: string): word is Factor => factors.some((one) => one === word)

const factorsOf = (setting: Setting): Factor[] => {
  const words = setting.value.split(',').map((word) => word.trim())
  const wrong = words.find((word) => !isFactor(word))
  if (wrong === undefined) return [...new Set(words.filter(isFactor))]
  throw usageError(
    `${named(setting, 'SVC_DEFAULT_FACTORS', 'default_factors')} holds "${wrong}", which is no factor`,
    `SVC_DEFAULT_FACTORS takes ${factors.join(', ')}, separated by commas`,
  )
}

const labelOf = (setting: Setting): string => {
  if (/^\P{Cc}{1,120}$/u.test(setting.value)) return setting.value
  throw usageError(
    `${named(setting, 'SVC_REQUEST_FROM', 'request_from')} must be one line of at most 120 characters`,
  )
}

/** What holds where a tool call says nothing. Fails with a usage error that names the variable. */
export const askingDefaults = ({ defaultMobile, defaultFactors, requestFrom }: Settings) => ({
  approver_mobile: defaultMobile && mobileOf(defaultMobile),
  factors: defaultFactors && factorsOf(defaultFactors),
  requester: requestFrom && labelOf(requestFrom),
})
