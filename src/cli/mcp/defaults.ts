import { readAskingDefaults, type AskingDefaults, type NamedSetting } from '../../contract/asking-defaults.ts'
import type { Setting, Settings } from '../context/settings.ts'

const named = (setting: Setting | undefined, variable: string, field: string): NamedSetting | undefined =>
  setting && {
    value: setting.value,
    name: setting.source === 'environment' ? variable : `${field} of the profile`,
  }

/** What holds where a tool call leaves a field out. Fails with a usage error that names the setting. */
export const askingDefaults = ({ defaultMobile, defaultFactors, requestFrom }: Settings): AskingDefaults =>
  readAskingDefaults({
    mobile: named(defaultMobile, 'SVC_DEFAULT_MOBILE', 'default_mobile'),
    factors: named(defaultFactors, 'SVC_DEFAULT_FACTORS', 'default_factors'),
    label: named(requestFrom, 'SVC_REQUEST_FROM', 'request_from'),
  })
