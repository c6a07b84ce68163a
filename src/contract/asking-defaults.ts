import { usageError } from '../core/errors.ts'
import type { Ask } from './approval-gateway.ts'
import { readLines } from './approvers.ts'
import { factors as known } from './records.ts'

/** Values for the fields that a tool call leaves out. */
export type AskingDefaults = {
  approvers?: string[] | undefined
  factors?: Ask['factors'] | undefined
  requester?: string | undefined
}

/** A setting, with its name as the user knows it: a variable, or a field of a profile. */
export type NamedSetting = { value: string; name: string }

type Factor = (typeof known)[number]

const isFactor = (word: string): word is Factor => known.some((one) => one === word)

const parseFactors = ({ value, name }: NamedSetting): Factor[] => {
  const words = value.split(',').map((word) => word.trim())
  const wrong = words.find((word) => !isFactor(word))
  if (wrong === undefined) return [...new Set(words.filter(isFactor))]
  throw usageError(
    `${name} contains "${wrong}", which is not a factor`,
    `SVC_DEFAULT_FACTORS takes ${known.join(', ')}, separated by commas`,
  )
}

const checkedLabel = ({ value, name }: NamedSetting): string => {
  if (/^\P{Cc}{1,120}$/u.test(value)) return value
  throw usageError(`${name} must be one line of at most 120 characters`, 'SVC_REQUEST_FROM="CI of Acme"')
}

type NamedSettings = Partial<Record<'mobile' | 'factors' | 'label', NamedSetting | undefined>>

/** Throws a usage error that names the setting. */
export const readAskingDefaults = ({ mobile, factors, label }: NamedSettings): AskingDefaults => ({
  approvers: mobile && readLines(mobile),
  factors: factors && parseFactors(factors),
  requester: label && checkedLabel(label),
})
