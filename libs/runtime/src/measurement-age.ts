import { meter } from './metrics.ts'

/** When each measurement succeeded last, by what it measures (`performance.now()`). */
const measuredAt = new Map<string, number>()

meter
  .createObservableGauge('measurement_age_seconds', {
    description: 'Time since a measurement succeeded, by what it measures: its gauges have the values of then',
    unit: 's',
  })
  .addCallback((result) => {
    const now = performance.now()
    for (const [measurement, at] of measuredAt) result.observe((now - at) / 1000, { measurement })
  })

/** Notes that something was measured just now, or is to be from now on. */
export const noteMeasured = (measurement: string): void => void measuredAt.set(measurement, performance.now())
