import { LOCAL_ZONE } from '../../formats.ts'
import type { Surroundings } from '../../model/plan-form.ts'
import { texts } from '../../texts/texts.ts'
import { ownCountry } from '../quota/presets.tsx'

/** What the presets of a plan depend on, of this browser. */
export const HERE: Surroundings = { time_zone: LOCAL_ZONE, countries: ownCountry(), names: texts.plans.presets }
