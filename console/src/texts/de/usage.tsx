import type { Texts } from '../en/en.ts'

export const usage: Texts['usage'] = {}
