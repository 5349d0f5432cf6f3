import type { Texts } from '../en/en.ts'

export const components: Texts['components'] = {}
