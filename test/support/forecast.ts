import { type Forecast, forecastInSlices } from '../../src/domain/forecasts/forecast.ts'

/** A forecast, all slices at once. */
export function forecast(...asked: Parameters<typeof forecastInSlices>): Forecast | null {
  const work = forecastInSlices(...asked)
  for (let step = work.next(); ; step = work.next()) if (step.done === true) return step.value
}
