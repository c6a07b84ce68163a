import { IANAZone } from 'luxon'

/** Whether there is an IANA zone of this name. Some engines take offsets such as +01:00 too; an offset knows no daylight saving. */
export const isZone = (name: string): boolean => !/^[+-]/.test(name) && IANAZone.isValidZone(name)
