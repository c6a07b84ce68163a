import type { Pending } from '../calls/api.ts'
import { h } from '../shell/element.ts'
import { exactText, listText } from '../shell/text.ts'
import { t, type Key } from '../language/text.ts'

type Condition = Pending['conditions'][number]

const listed = ({ options, total }: Condition): string => {
  const more = total - options.length
  return listText(more > 0 ? [...options, t('request.more', { count: more })] : options)
}

const words: Record<Condition['factor'], (condition: Condition) => string> = {
  biometric: () => t('request.biometric'),
  location: (one) =>
    one.total > 0 ? t('request.locationIn', { places: listed(one) }) : t('request.location'),
  time: (one) => (one.total > 0 ? t('request.timeIn', { hours: listed(one) }) : t('request.time')),
  device: () => t('request.device'),
  ip: (one) => t('request.network', { networks: listed(one) }),
}

const textOf = (one: Condition): string =>
  one.required ? words[one.factor](one) : t('request.recordedOnly', { condition: words[one.factor](one) })

/** Everything that an approval is checked against, in plain words. */
export const conditionList = ({ conditions }: Pending): HTMLElement =>
  h('ul', { class: 'conditions' }, ...conditions.map((one) => h('li', {}, exactText(textOf(one)))))

const refusals: Partial<Record<Condition['factor'], Key>> = {
  time: 'request.outsideHours',
  ip: 'request.outsideNetwork',
  device: 'request.untrustedDevice',
}

export const checksLocation = ({ conditions }: Pending): boolean =>
  conditions.some(({ factor }) => factor === 'location')

const needsLocation = ({ conditions }: Pending): boolean =>
  conditions.some(({ factor, required }) => factor === 'location' && required)

/** Why the service would refuse an approval now; empty if nothing is known against it. */
export const warningsFor = (request: Pending, locationBlocked: boolean): string[] => [
  ...new Set(
    request.conditions.flatMap(({ factor, required, outlook }) =>
      required && outlook === 'fail' ? [t(refusals[factor] ?? 'request.ruleNotMet')] : [],
    ),
  ),
  ...(locationBlocked && needsLocation(request) ? [t('request.noLocation')] : []),
]
