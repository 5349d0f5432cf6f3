import type { Static } from 'typebox'
import type { COMPONENTS } from '../../../src/contract/components.ts'

type Schemas = typeof COMPONENTS

/** Resolves references between schemas, such as `Type.Ref('SmsQuota#')`. */
type References = { [Name in keyof Schemas & string as `${Name}#`]: Schemas[Name] }

/** Every type of the API by its name in the OpenAPI document, inferred from the schemas of `src/contract`. */
export type Api = { [Name in keyof Schemas]: Static<Schemas[Name], References> }
