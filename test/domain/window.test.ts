import { afterEach, describe, expect, test, vi } from 'vitest'
import { PERIODS, plainCalendar } from '../../src/domain/time/period.ts'
import { boundariesBetween, lastBoundary, nextBoundary, timeZoneName } from '../../src/domain/time/window.ts'

/** `2026-01-31` or `2026-01-31 23:59:59.999`, in UTC. */
const utc = (text: string) => Date.parse(text.length > 10 ? `${text.replace(' ', 'T')}Z` : text)
const shown = (at: number) => new Date(at).toISOString().replace('T', ' ').slice(0, -5)

afterEach(() => {
  vi.restoreAllMocks()
})

describe('timeZoneName', () => {
  test.each([
    ['UTC', 'UTC'],
    ['utc', 'UTC'],
    ['Europe/Berlin', 'Europe/Berlin'],
    ['europe/berlin', 'Europe/Berlin'],
    ['AMERICA/ARGENTINA/BUENOS_AIRES', 'America/Argentina/Buenos_Aires'],
    ['america/port-au-prince', 'America/Port-au-Prince'],
    ['africa/dar_es_salaam', 'Africa/Dar_es_Salaam'],
    ['antarctica/dumontdurville', 'Antarctica/DumontDUrville'],
    // An alias stays an alias.
    ['asia/calcutta', 'Asia/Calcutta'],
    ['us/pacific', 'US/Pacific'],
    ['etc/gmt+5', 'Etc/GMT+5'],
    ['est5edt', 'EST5EDT'],
    ['gb-eire', 'GB-Eire'],
    ['Etc/UTC', 'Etc/UTC'],
  ])('reads %s as %s', (text, name) => {
    expect(timeZoneName(text)).toBe(name)
  })

  test.each([
    ['+02:00'],
    ['-0300'],
    ['+5'],
    ['-00:00'],
    ['+05:30:15'],
    ['\u221202:00'],
    ['GMT+5'],
    ['UTC+1'],
    ['Etc/GMT+15'],
    ['Z'],
    [''],
    [' UTC'],
    ['UTC '],
    ['Europe/Berlin\n'],
    ['Europe'],
    ['Europe/'],
    ['Europe/Atlantis'],
    ['Europe//Berlin'],
    ['Eur\u043Epe/Berlin'],
    ['A\u017Fia/Tokyo'],
    ['2026-01-01T00:00Z[Europe/Berlin]'],
    ['PST'],
    ['ist'],
    ['SystemV/AST4'],
    ['Etc/Unknown'],
    ['__proto__'],
  ])('rejects %j', text => {
    expect(timeZoneName(text)).toBeNull()
  })
})

describe('the window that contains a timestamp', () => {
  test.each([
    // Days of 24, 23, 25 and 24.5 hours.
    ['day', 'UTC', '2026-01-01 00:00', '2026-01-01 00:00:00', '2026-01-02 00:00:00'],
    ['day', 'UTC', '2026-01-01 23:59:59.999', '2026-01-01 00:00:00', '2026-01-02 00:00:00'],
    ['day', 'Europe/Berlin', '2026-03-29 12:00', '2026-03-28 23:00:00', '2026-03-29 22:00:00'],
    ['day', 'Europe/Berlin', '2026-10-25 12:00', '2026-10-24 22:00:00', '2026-10-25 23:00:00'],
    ['day', 'Australia/Lord_Howe', '2026-10-03 20:00', '2026-10-03 13:30:00', '2026-10-04 13:00:00'],
    ['day', 'Asia/Kathmandu', '1986-01-01 12:00', '1985-12-31 18:30:00', '1986-01-01 18:15:00'],
    ['day', 'Asia/Pyongyang', '2015-08-14 15:10', '2015-08-13 15:00:00', '2015-08-14 15:30:00'],
    ['day', 'Pacific/Kiritimati', '2026-01-01 10:00', '2026-01-01 10:00:00', '2026-01-02 10:00:00'],
    ['day', 'Pacific/Kiritimati', '2026-01-01 09:59', '2025-12-31 10:00:00', '2026-01-01 10:00:00'],
    ['day', 'Pacific/Pago_Pago', '2026-01-01 10:59', '2025-12-31 11:00:00', '2026-01-01 11:00:00'],
    // Days without midnight: they begin at 01:00.
    ['day', 'America/Havana', '2025-03-09 05:00', '2025-03-09 05:00:00', '2025-03-10 04:00:00'],
    ['day', 'Asia/Beirut', '2025-03-30 00:00', '2025-03-29 22:00:00', '2025-03-30 21:00:00'],
    ['day', 'America/Sao_Paulo', '2018-11-04 12:00', '2018-11-04 03:00:00', '2018-11-05 02:00:00'],
    ['day', 'Atlantic/Azores', '2025-03-30 12:00', '2025-03-30 01:00:00', '2025-03-31 00:00:00'],
    // Days with two midnights: they begin at the first.
    ['day', 'America/Havana', '2025-11-02 05:30', '2025-11-02 04:00:00', '2025-11-03 05:00:00'],
    ['day', 'Atlantic/Azores', '2025-10-26 01:00', '2025-10-26 00:00:00', '2025-10-27 01:00:00'],
    // Days whose last hour is repeated.
    ['day', 'Asia/Beirut', '2025-10-25 21:30', '2025-10-24 21:00:00', '2025-10-25 22:00:00'],
    ['day', 'America/Sao_Paulo', '2019-02-17 02:30', '2019-02-16 02:00:00', '2019-02-17 03:00:00'],
    // At 00:01 the clock goes back to 23:01, in 1988 to 22:01: it shows the previous date, but the new day has begun.
    ['day', 'America/St_Johns', '2006-10-29 03:00', '2006-10-29 02:30:00', '2006-10-30 03:30:00'],
    ['day', 'America/St_Johns', '1988-10-30 03:29', '1988-10-30 01:30:00', '1988-10-31 03:30:00'],
    ['month', 'America/St_Johns', '2009-11-01 03:00', '2009-11-01 02:30:00', '2009-12-01 03:30:00'],
    // Dates skipped at the date line: 2011-12-30 in Samoa, 1994-12-31 on Kiritimati.
    ['day', 'Pacific/Apia', '2011-12-30 09:59', '2011-12-29 10:00:00', '2011-12-30 10:00:00'],
    ['day', 'Pacific/Apia', '2011-12-30 10:00', '2011-12-30 10:00:00', '2011-12-31 10:00:00'],
    ['year', 'Pacific/Kiritimati', '1994-12-31 09:59', '1994-01-01 10:00:00', '1994-12-31 10:00:00'],
    // Weeks begin on Monday, across years too.
    ['week', 'UTC', '2026-01-01', '2025-12-29 00:00:00', '2026-01-05 00:00:00'],
    ['week', 'UTC', '2026-01-04 23:59:59.999', '2025-12-29 00:00:00', '2026-01-05 00:00:00'],
    ['week', 'UTC', '2026-01-05 00:00', '2026-01-05 00:00:00', '2026-01-12 00:00:00'],
    ['week', 'UTC', '2024-02-29', '2024-02-26 00:00:00', '2024-03-04 00:00:00'],
    ['week', 'UTC', '1970-01-01', '1969-12-29 00:00:00', '1970-01-05 00:00:00'],
    ['week', 'Europe/Berlin', '2026-03-29 22:30', '2026-03-29 22:00:00', '2026-04-05 22:00:00'],
    ['week', 'America/New_York', '2026-03-09 03:59', '2026-03-02 05:00:00', '2026-03-09 04:00:00'],
    ['week', 'Pacific/Apia', '2011-12-31', '2011-12-26 10:00:00', '2012-01-01 10:00:00'],
    // Months: short, long and leap.
    ['month', 'UTC', '2026-02-28 23:59:59.999', '2026-02-01 00:00:00', '2026-03-01 00:00:00'],
    ['month', 'UTC', '2028-02-29 23:59:59.999', '2028-02-01 00:00:00', '2028-03-01 00:00:00'],
    ['month', 'UTC', '2000-02-29', '2000-02-01 00:00:00', '2000-03-01 00:00:00'],
    ['month', 'UTC', '2100-03-01', '2100-03-01 00:00:00', '2100-04-01 00:00:00'],
    ['month', 'UTC', '2026-01-31 12:00', '2026-01-01 00:00:00', '2026-02-01 00:00:00'],
    ['month', 'UTC', '2026-12-31 12:00', '2026-12-01 00:00:00', '2027-01-01 00:00:00'],
    ['month', 'Europe/Berlin', '2026-10-31 22:59', '2026-09-30 22:00:00', '2026-10-31 23:00:00'],
    ['month', 'Pacific/Kiritimati', '2026-01-31 10:00', '2026-01-31 10:00:00', '2026-02-28 10:00:00'],
    // Years.
    ['year', 'UTC', '2024-12-31 23:59:59.999', '2024-01-01 00:00:00', '2025-01-01 00:00:00'],
    ['year', 'UTC', '9998-12-31 23:59:59.999', '9998-01-01 00:00:00', '9999-01-01 00:00:00'],
    ['year', 'Pacific/Kiritimati', '2025-12-31 10:00', '2025-12-31 10:00:00', '2026-12-31 10:00:00'],
    ['year', 'Pacific/Pago_Pago', '2026-01-01 10:59', '2025-01-01 11:00:00', '2026-01-01 11:00:00'],
    ['year', 'Pacific/Pago_Pago', '1970-01-01', '1969-01-01 11:00:00', '1970-01-01 11:00:00'],
    // Hours: in zones of half and quarter hours.
    ['hour', 'UTC', '1970-01-01', '1970-01-01 00:00:00', '1970-01-01 01:00:00'],
    ['hour', 'UTC', '2026-01-01 00:59:59.999', '2026-01-01 00:00:00', '2026-01-01 01:00:00'],
    ['hour', 'Asia/Kolkata', '2026-01-01', '2025-12-31 23:30:00', '2026-01-01 00:30:00'],
    ['hour', 'Asia/Kathmandu', '2026-01-01', '2025-12-31 23:15:00', '2026-01-01 00:15:00'],
    // 02:00 to 03:00 is repeated: two windows.
    ['hour', 'Europe/Berlin', '2026-10-25 00:59', '2026-10-25 00:00:00', '2026-10-25 01:00:00'],
    ['hour', 'Europe/Berlin', '2026-10-25 01:00', '2026-10-25 01:00:00', '2026-10-25 02:00:00'],
    ['hour', 'America/Havana', '2025-11-02 05:30', '2025-11-02 05:00:00', '2025-11-02 06:00:00'],
    ['hour', 'Asia/Beirut', '2025-10-25 20:30', '2025-10-25 20:00:00', '2025-10-25 21:00:00'],
    ['hour', 'Asia/Beirut', '2025-10-25 21:30', '2025-10-25 21:00:00', '2025-10-25 22:00:00'],
    // 02:00 to 03:00 is skipped: no window.
    ['hour', 'Europe/Berlin', '2026-03-29 00:59', '2026-03-29 00:00:00', '2026-03-29 01:00:00'],
    ['hour', 'Europe/Berlin', '2026-03-29 01:00', '2026-03-29 01:00:00', '2026-03-29 02:00:00'],
    // 01:30 to 02:00 is repeated: a window of 90 minutes. 02:00 jumps to 02:30: a window of 30 minutes.
    ['hour', 'Australia/Lord_Howe', '2026-04-04 14:59', '2026-04-04 14:00:00', '2026-04-04 15:30:00'],
    ['hour', 'Australia/Lord_Howe', '2026-04-04 15:00', '2026-04-04 14:00:00', '2026-04-04 15:30:00'],
    ['hour', 'Australia/Lord_Howe', '2026-10-03 15:29', '2026-10-03 14:30:00', '2026-10-03 15:30:00'],
    ['hour', 'Australia/Lord_Howe', '2026-10-03 15:30', '2026-10-03 15:30:00', '2026-10-03 16:00:00'],
    ['hour', 'America/Caracas', '2007-12-09 07:10', '2007-12-09 06:00:00', '2007-12-09 07:30:00'],
    ['hour', 'Asia/Pyongyang', '2018-05-04 14:59', '2018-05-04 14:30:00', '2018-05-04 15:00:00'],
    ['hour', 'Pacific/Kiritimati', '1979-10-01 10:40', '1979-10-01 10:40:00', '1979-10-01 11:00:00'],
    // Clock changes off the full hour: 03:45 back to 02:45, 00:01 back to 23:01.
    ['hour', 'Pacific/Chatham', '2026-04-04 14:10', '2026-04-04 13:15:00', '2026-04-04 14:15:00'],
    ['hour', 'America/St_Johns', '2006-10-29 02:45', '2006-10-29 02:30:00', '2006-10-29 03:30:00'],
    // Liberia, 44 minutes and 30 seconds behind UTC until 1972.
    ['hour', 'Africa/Monrovia', '1972-01-07 00:44', '1972-01-06 23:44:30', '1972-01-07 00:44:30'],
    ['hour', 'Africa/Monrovia', '1972-01-07 00:45', '1972-01-07 00:44:30', '1972-01-07 01:00:00'],
  ] as const)('%s in %s at %s', (period, timeZone, at, start, end) => {
    expect(shown(lastBoundary(plainCalendar(period, timeZone), utc(at)))).toBe(start)
    expect(shown(nextBoundary(plainCalendar(period, timeZone), utc(at)))).toBe(end)
  })
})

describe('the window with an anchor that contains a timestamp', () => {
  test.each([
    // On the day that a subscription began.
    ['15', 'UTC', '2026-01-14 23:59:59.999', '2025-12-15 00:00:00', '2026-01-15 00:00:00'],
    ['15', 'UTC', '2026-01-15', '2026-01-15 00:00:00', '2026-02-15 00:00:00'],
    ['1', 'UTC', '2026-01-15', '2026-01-01 00:00:00', '2026-02-01 00:00:00'],
    ['2', 'UTC', '2026-03-01', '2026-02-02 00:00:00', '2026-03-02 00:00:00'],
    // The last day of a month that is shorter, and the day itself again in the next one.
    ['31', 'UTC', '2026-01-30 23:59:59.999', '2025-12-31 00:00:00', '2026-01-31 00:00:00'],
    ['31', 'UTC', '2026-01-31', '2026-01-31 00:00:00', '2026-02-28 00:00:00'],
    ['31', 'UTC', '2026-02-28', '2026-02-28 00:00:00', '2026-03-31 00:00:00'],
    ['31', 'UTC', '2026-03-30', '2026-02-28 00:00:00', '2026-03-31 00:00:00'],
    ['31', 'UTC', '2026-03-31', '2026-03-31 00:00:00', '2026-04-30 00:00:00'],
    ['31', 'UTC', '2026-04-30', '2026-04-30 00:00:00', '2026-05-31 00:00:00'],
    ['31', 'UTC', '2028-02-29', '2028-02-29 00:00:00', '2028-03-31 00:00:00'],
    ['31', 'UTC', '2028-02-28', '2028-01-31 00:00:00', '2028-02-29 00:00:00'],
    ['30', 'UTC', '2026-02-28', '2026-02-28 00:00:00', '2026-03-30 00:00:00'],
    ['30', 'UTC', '2028-02-28', '2028-01-30 00:00:00', '2028-02-29 00:00:00'],
    ['30', 'UTC', '2026-12-31', '2026-12-30 00:00:00', '2027-01-30 00:00:00'],
    ['29', 'UTC', '2028-02-29', '2028-02-29 00:00:00', '2028-03-29 00:00:00'],
    ['29', 'UTC', '2026-02-28', '2026-02-28 00:00:00', '2026-03-29 00:00:00'],
    ['29', 'UTC', '2100-02-28', '2100-02-28 00:00:00', '2100-03-29 00:00:00'],
    ['29', 'UTC', '2000-02-29', '2000-02-29 00:00:00', '2000-03-29 00:00:00'],
    ['28', 'UTC', '2028-02-29', '2028-02-28 00:00:00', '2028-03-28 00:00:00'],
    // Clock changes: a window begins at the first instant of its first day.
    ['29', 'Europe/Berlin', '2026-03-29 12:00', '2026-03-28 23:00:00', '2026-04-28 22:00:00'],
    ['25', 'Europe/Berlin', '2026-10-25 12:00', '2026-10-24 22:00:00', '2026-11-24 23:00:00'],
    ['9', 'America/Havana', '2025-03-09 04:59', '2025-02-09 05:00:00', '2025-03-09 05:00:00'],
    ['9', 'America/Havana', '2025-03-09 05:00', '2025-03-09 05:00:00', '2025-04-09 04:00:00'],
    ['2', 'America/Havana', '2025-11-02 05:30', '2025-11-02 04:00:00', '2025-12-02 05:00:00'],
    ['22', 'Asia/Tehran', '2022-03-21 20:30', '2022-03-21 20:30:00', '2022-04-21 19:30:00'],
    ['22', 'Asia/Tehran', '2022-09-21 19:45', '2022-08-21 19:30:00', '2022-09-21 20:30:00'],
    ['28', 'Africa/Cairo', '2023-04-27 22:00', '2023-04-27 22:00:00', '2023-05-27 21:00:00'],
    ['27', 'Africa/Cairo', '2023-10-26 21:30', '2023-09-26 21:00:00', '2023-10-26 22:00:00'],
    ['29', 'America/St_Johns', '2006-10-29 03:00', '2006-10-29 02:30:00', '2006-11-29 03:30:00'],
    ['4', 'America/Sao_Paulo', '2018-11-04 03:00', '2018-11-04 03:00:00', '2018-12-04 02:00:00'],
    // 2011-12-30 does not exist in Samoa: the window begins with the day after.
    ['30', 'Pacific/Apia', '2011-12-30 09:59', '2011-11-30 10:00:00', '2011-12-30 10:00:00'],
    ['30', 'Pacific/Apia', '2011-12-30 10:00', '2011-12-30 10:00:00', '2012-01-29 10:00:00'],
    ['31', 'Pacific/Apia', '2011-12-30 10:00', '2011-12-30 10:00:00', '2012-01-30 10:00:00'],
    ['29', 'Pacific/Apia', '2011-12-30 10:00', '2011-12-29 10:00:00', '2012-01-28 10:00:00'],
    ['31', 'Pacific/Kiritimati', '1994-12-31 09:59', '1994-11-30 10:00:00', '1994-12-31 10:00:00'],
    // Years from 1 April, and from 29 February.
    ['04-01', 'Asia/Tokyo', '2026-03-31 14:59:59.999', '2025-03-31 15:00:00', '2026-03-31 15:00:00'],
    ['04-01', 'Asia/Tokyo', '2026-03-31 15:00', '2026-03-31 15:00:00', '2027-03-31 15:00:00'],
    ['04-01', 'Europe/London', '2026-03-31 23:00', '2026-03-31 23:00:00', '2027-03-31 23:00:00'],
    ['04-06', 'Europe/London', '2026-04-05 23:00', '2026-04-05 23:00:00', '2027-04-05 23:00:00'],
    ['01-01', 'UTC', '2026-06-01', '2026-01-01 00:00:00', '2027-01-01 00:00:00'],
    ['12-31', 'UTC', '2026-12-30 23:59:59.999', '2025-12-31 00:00:00', '2026-12-31 00:00:00'],
    ['12-31', 'UTC', '2026-12-31', '2026-12-31 00:00:00', '2027-12-31 00:00:00'],
    ['02-29', 'UTC', '2027-02-27', '2026-02-28 00:00:00', '2027-02-28 00:00:00'],
    ['02-29', 'UTC', '2027-02-28', '2027-02-28 00:00:00', '2028-02-29 00:00:00'],
    ['02-29', 'UTC', '2028-02-28 23:59:59.999', '2027-02-28 00:00:00', '2028-02-29 00:00:00'],
    ['02-29', 'UTC', '2028-02-29', '2028-02-29 00:00:00', '2029-02-28 00:00:00'],
    ['02-29', 'UTC', '2100-02-28', '2100-02-28 00:00:00', '2101-02-28 00:00:00'],
    ['03-22', 'Asia/Tehran', '2022-03-21 20:30', '2022-03-21 20:30:00', '2023-03-21 20:30:00'],
    ['12-30', 'Pacific/Apia', '2011-12-30 10:00', '2011-12-30 10:00:00', '2012-12-29 10:00:00'],
    ['04-01', 'UTC', '1970-01-01', '1969-04-01 00:00:00', '1970-04-01 00:00:00'],
  ])('%s in %s at %s', (anchor, time_zone, at, start, end) => {
    const calendar = { period: anchor.includes('-') ? ('year' as const) : ('month' as const), anchor, time_zone }
    expect(shown(lastBoundary(calendar, utc(at)))).toBe(start)
    expect(shown(nextBoundary(calendar, utc(at)))).toBe(end)
  })

  test('the windows of a 31st do not drift, and are counted', () => {
    const calendar = { period: 'month' as const, anchor: '31', time_zone: 'Europe/Berlin' }
    const starts: string[] = []
    for (let at = utc('2027-12-15'); starts.length < 14; at = nextBoundary(calendar, at))
      starts.push(shown(nextBoundary(calendar, at)).slice(0, 10))
    // The day before in UTC.
    expect(starts.map(start => start.slice(2))).toEqual(
      [
        '27-12-30',
        '28-01-30',
        '28-02-28',
        '28-03-30',
        '28-04-29',
        '28-05-30',
        '28-06-29',
        '28-07-30',
        '28-08-30',
      ].concat(['28-09-29', '28-10-30', '28-11-29', '28-12-30', '29-01-30']),
    )
    expect(boundariesBetween(calendar, utc('2027-12-15'), utc('2029-01-31'))).toBe(14)
  })
})

describe('boundariesBetween', () => {
  test.each([
    // Excludes the start, includes the end.
    ['day', 'UTC', '2026-01-01', '2026-01-01', 0],
    ['day', 'UTC', '2026-01-01', '2026-01-01 23:59:59.999', 0],
    ['day', 'UTC', '2026-01-01', '2026-01-02', 1],
    ['day', 'UTC', '2025-12-31 23:59:59.999', '2026-01-02', 2],
    ['day', 'UTC', '2026-01-02', '2026-01-01', 0],
    ['hour', 'UTC', '2026-01-02', '2026-01-01', 0],
    ['day', 'UTC', '2026-02-01', '2026-03-01', 28],
    ['day', 'UTC', '2028-02-01', '2028-03-01', 29],
    ['week', 'UTC', '2025-12-29', '2027-01-04', 53],
    ['month', 'UTC', '2024-02-29', '2026-02-28', 24],
    ['year', 'UTC', '1970-01-01', '9998-12-31', 8028],
    // Skipped dates.
    ['day', 'Pacific/Apia', '2011-12-28 10:00', '2012-01-02 10:00', 4 + 1],
    ['day', 'Pacific/Apia', '2011-12-29 10:00', '2011-12-30 10:00', 1],
    ['day', 'Pacific/Apia', '2011-12-30 10:00', '2011-12-31 10:00', 1],
    ['day', 'Pacific/Kwajalein', '1993-08-01 12:00', '1993-08-31 12:00', 30],
    // A day that has begun, while the clock shows the previous date.
    ['day', 'America/St_Johns', '2006-10-29 02:29', '2006-10-29 03:00', 1],
    ['day', 'America/St_Johns', '2006-10-29 03:00', '2006-10-29 04:00', 0],
    ['day', 'America/St_Johns', '2006-10-29 03:00', '2006-10-31 03:30', 2],
    // Clock changes in spring and in autumn.
    ['hour', 'Europe/Berlin', '2026-03-28 23:00', '2026-03-29 22:00', 23],
    ['hour', 'Europe/Berlin', '2026-10-24 22:00', '2026-10-25 23:00', 25],
    ['hour', 'Australia/Lord_Howe', '2026-10-03 14:30', '2026-10-03 16:00', 2],
    ['hour', 'Australia/Lord_Howe', '2026-04-04 14:00', '2026-04-04 15:30', 1],
    ['hour', 'Africa/Monrovia', '1972-01-06 23:44:30', '1972-01-07 01:00', 2],
    // Decades.
    ['hour', 'UTC', '1996-01-01', '2026-01-01', 262_992],
    ['hour', 'Europe/Berlin', '1995-12-31 23:00', '2025-12-31 23:00', 262_992],
    ['day', 'Europe/Berlin', '1995-12-31 23:00', '2025-12-31 23:00', 10_958],
    ['hour', 'Asia/Kolkata', '2046-01-01', '2076-01-01', 262_968],
    ['hour', 'America/New_York', '2046-01-01', '2076-01-01', 262_968],
  ] as const)('%ss in %s after %s until %s: %i', (period, timeZone, from, to, count) => {
    expect(boundariesBetween(plainCalendar(period, timeZone), utc(from), utc(to))).toBe(count)
  })

  test('the count does not depend on today, although the polyfill searches for clock changes only up to three years after it', () => {
    vi.spyOn(Date, 'now').mockReturnValue(0)
    // Since 1990 Pyongyang changed its clock twice: half an hour back in 2015, half an hour forward in 2018.
    expect(boundariesBetween(plainCalendar('hour', 'Asia/Pyongyang'), utc('1990-01-01'), utc('2017-01-01'))).toBe(
      236_688 - 1,
    )
    expect(boundariesBetween(plainCalendar('hour', 'Asia/Pyongyang'), utc('1990-01-01'), utc('2020-01-01'))).toBe(
      262_968,
    )
  })

  test('counts a century of hours without visiting each', () => {
    const begun = performance.now()
    expect(boundariesBetween(plainCalendar('hour', 'Europe/Paris'), utc('1970-01-01'), utc('2070-01-01'))).toBe(876_600)
    // Visiting each takes 15 s, counting a few milliseconds; the bound leaves room for a busy machine.
    expect(performance.now() - begun).toBeLessThan(2_000)
  })
})

test('more zones than the cache holds give separate results', () => {
  const zones = Intl.supportedValuesOf('timeZone')
  const timestamps = [utc('2026-01-15 12:00'), utc('2026-07-15 12:00')]
  const answers = (names: string[]) =>
    names.flatMap(name =>
      PERIODS.flatMap(period => timestamps.map(at => lastBoundary(plainCalendar(period, name), at))),
    )
  const first = answers(zones)
  expect(answers(zones.map(name => name.toLowerCase()))).toEqual(first)
  expect(answers(zones)).toEqual(first)
})
