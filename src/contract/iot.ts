import { operations } from './operation.ts'

export const iot = operations({})
