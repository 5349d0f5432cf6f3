import { formatUnits } from '../../formats.ts'
import type { components as english } from '../en/components.tsx'

export const components: typeof english = {
  unknownFilters: {
    title: (filters, count) =>
      `Die Adresse enthält ${count === 1 ? 'einen Filter, den' : 'Filter, die'} es nicht gibt: ${filters}`,
    without: 'Liste ohne Filter anzeigen',
  },
  noRows: {
    searching: 'Bisher keine gefunden',
    searchingAbout: 'Ältere sind noch nicht durchsucht.',
    older: 'Keine älteren',
    filtered: 'Nichts passt zu diesen Filtern',
  },
  clearFilters: 'Filter zurücksetzen',
  userFilter: {
    label: 'Benutzer',
    all: 'Alle Benutzer',
    none: 'Kein Benutzer gefunden. ID, Name oder Referenz eingeben',
    several: 'Mehrere Benutzer gefunden. Bitte einen wählen',
  },
  contact: { ask: 'Um Hilfe bitten', open: 'Kontakt' },
  periodFilter: {
    label: 'Zeitraum',
    all: 'Jederzeit',
    names: {
      today: 'Heute',
      yesterday: 'Gestern',
      last7Days: 'Letzte 7 Tage',
      lastWeek: 'Letzte Woche',
      thisMonth: 'Dieser Monat',
      other: 'Von … bis …',
    },
    from: 'Von',
    to: 'Bis',
  },
  countryFilter: { label: 'Land', all: 'Alle Länder', error: 'Bitte ein Land wählen, wie Deutschland, DE oder +49' },
  statuses: {
    active: 'Aktiv',
    exhausted: 'Aufgebraucht',
    scheduled: 'Geplant',
    suspended: 'Ausgesetzt',
    expired: 'Abgelaufen',
    deleted: 'Gelöscht',
  },
  blocked: 'Gesperrt',
  reservationStates: {
    reserved: 'Reserviert',
    committed: 'Bestätigt',
    refunded: 'Erstattet',
    expired: 'Abgelaufen',
    released: 'Freigegeben',
  },
  ownReservationStates: {
    reserved: 'Unterwegs',
    committed: 'Berechnet',
    refunded: 'Zurückgegeben',
    expired: 'Nie gesendet',
    released: 'Nicht gesendet',
  },
  pages: {
    label: 'Seiten der Liste',
    newest: 'Neueste',
    older: 'Ältere',
    first: 'Erste',
    previous: 'Zurück',
    next: 'Weiter',
    last: 'Letzte',
    position: (first, last, total) => `${formatUnits(first)}–${formatUnits(last)} von ${formatUnits(total)}`,
    pastTheEnd: total => `Keine auf dieser Seite, ${formatUnits(total)} insgesamt`,
  },
  close: 'Schließen',
  loading: 'Wird geladen …',
  notFound: {
    title: 'Seite nicht gefunden',
    text: 'Diese Seite gibt es nicht, oder der Zugriff auf sie fehlt.',
    toStart: 'Zur Startseite',
  },
  brokenPage: {
    title: 'Diese Seite kann nicht gezeigt werden',
    text: 'Vielleicht wurde der Dienst aktualisiert, seit die Konsole geöffnet wurde.',
    reload: 'Konsole neu laden',
  },
  actor: actor => <>„{actor}“</>,
  ownActor: actor => <>„{actor}“ (eigenes Konto)</>,
  leaving: 'Die Eingaben sind nicht gespeichert. Diese Seite verlassen und die Eingaben verlieren?',
  errors: {
    loadingFailed: 'Laden fehlgeschlagen',
    retrying: 'Neuer Versuch läuft …',
    tryAgain: 'Erneut versuchen',
    request: 'Anfrage',
    noResponse: 'Keine Antwort',
    unreachable: 'Der Dienst antwortet nicht.',
    checkFirst: 'Die Anfrage kann trotzdem gewirkt haben. Bitte vor einem neuen Versuch prüfen.',
    inputKept:
      'Die Anfrage kann trotzdem gewirkt haben. Die Eingaben bleiben erhalten: erneut versuchen, sobald der Dienst wieder da ist. Die Änderung wirkt nur einmal.',
    problems: {
      unknown_user: {
        title: 'Unbekannte Referenz',
        text: 'Kein Benutzer hat diese Referenz. Sie auf der Seite des Benutzers eintragen, oder ihn mit seiner ID nennen.',
      },
      not_enough_units: { title: 'Zu wenig Einheiten', text: 'Zum Weitergeben ist weniger übrig.' },
      too_many_pauses: {
        title: 'Zu viele angehaltene Ziele',
        text: 'Eines freigeben, das nicht mehr angehalten sein muss.',
      },
      link_outdated: { title: 'Link veraltet', text: 'Dieser Link gilt nicht mehr.' },
      not_found: { title: 'Nicht gefunden', text: 'Das gibt es nicht, oder es wurde gelöscht.' },
      method_not_allowed: { title: 'Methode nicht erlaubt', text: 'Der Dienst kennt diesen Aufruf nicht.' },
      unauthenticated: {
        title: 'Nicht angemeldet',
        text: 'Das Token fehlt, ist abgelaufen oder wird nicht angenommen.',
      },
      forbidden: { title: 'Nicht erlaubt', text: 'Die eigene Rolle erlaubt das nicht.' },
      payload_too_large: { title: 'Zu viele Daten', text: 'Die Eingabe ist größer, als der Dienst annimmt.' },
      unsupported_media_type: { title: 'Unbekanntes Format', text: 'Der Dienst nimmt Daten dieser Art nicht an.' },
      invalid_request: { title: 'Ungültige Eingabe', text: 'Der Dienst nimmt einen Teil der Eingaben nicht an.' },
      version_mismatch: { title: 'Inzwischen geändert', text: 'Es gab eine Änderung, seit diese Seite geladen wurde.' },
      immutable_field: {
        title: 'Nicht änderbar',
        text: 'Eine der Einstellungen ist nicht mehr änderbar. Bitte ein neues Kontingent anlegen.',
      },
      below_usage: {
        title: 'Unter dem Verbrauch',
        text: 'Das neue Limit liegt unter den verbrauchten und reservierten Einheiten.',
      },
      no_grant: {
        title: 'Kein Kontingent für die Einheiten',
        text: 'Die Einheiten brauchen ein Kontingent, das ein Limit hat und jetzt zählt. Wählen Sie ein anderes.',
      },
      request_closed: { title: 'Schon geschlossen', text: 'Die Anfrage wurde schon entschieden oder zurückgezogen.' },
      too_many_requests: {
        title: 'Zu viele Anfragen nach Einheiten',
        text: '3 können offen sein, und 10 in 24 Stunden gestellt werden. Ziehen Sie eine zurück, oder warten Sie.',
      },
      not_transferable: {
        title: 'Nicht übertragbar',
        text: 'Einheiten gehen nur aus einem Paket mit Limit, das jetzt zählt.',
      },
      too_many_quotas: {
        title: 'Zu viele Kontingente',
        text: 'Der Benutzer hat die höchste Zahl an Kontingenten. Bitte eines löschen, das nicht gebraucht wird.',
      },
      too_many_webhooks: {
        title: 'Zu viele Webhooks',
        text: 'Es gibt die höchste Zahl an Webhooks. Bitte einen löschen, der nicht gebraucht wird.',
      },
      too_many_plans: {
        title: 'Zu viele Tarife',
        text: 'Die Höchstzahl der Tarife ist erreicht. Bitte einen archivieren, der nicht gebraucht wird.',
      },
      plan_archived: { title: 'Tarif archiviert', text: 'Der Tarif ist archiviert. Bitte einen anderen wählen.' },
      too_many_rate_cards: {
        title: 'Zu viele Preise',
        text: 'Die Höchstzahl der Preislisten ist erreicht, oder die der kommenden Fassungen dieser. Bitte eine archivieren, die nicht gebraucht wird, oder eine Fassung mit gleichem Beginn ersetzen.',
      },
      rate_card_archived: {
        title: 'Preisliste archiviert',
        text: 'Die Preisliste ist archiviert. Bitte eine andere wählen.',
      },
      rate_card_in_use: {
        title: 'Preisliste in Gebrauch',
        text: 'Sie ist der Standard, oder ein Tarif oder Benutzer hat sie. Bitte diesen vorher eine andere geben.',
      },
      no_rate: {
        title: 'Kein Preis',
        text: 'Keine Preisliste hat den Preis der Nachricht bestimmt, daher haben ihre Segmente keine Einheiten.',
      },
      exceeds_reservation: {
        title: 'Mehr als reserviert',
        text: 'Das sind mehr Einheiten, als die Reservierung enthält.',
      },
      exceeds_committed: { title: 'Mehr als bestätigt', text: 'Das sind mehr Einheiten, als bestätigt sind.' },
      conflict: { title: 'Konflikt', text: 'Ein anderes Kontingent des Benutzers hat schon diese Referenz.' },
      idempotency_mismatch: {
        title: 'Andere Anfrage',
        text: 'Eine frühere Anfrage dieses Formulars hatte andere Werte.',
      },
      reservation_closed: {
        title: 'Reservierung beendet',
        text: 'Die Einheiten der Reservierung sind schon bestätigt oder zurückgegeben.',
      },
      open_reservations: {
        title: 'Offene Reservierungen',
        text: 'Der Benutzer hat offene Reservierungen. Bitte warten, bis sie beendet oder abgelaufen sind.',
      },
      being_erased: {
        title: 'Wird gelöscht',
        text: 'Die Daten dieses Benutzers werden gerade gelöscht. Bitte danach erneut versuchen.',
      },
      events_lost: {
        title: 'Ereignisse verloren',
        text: 'Die Datenbank hat Ereignisse verloren, die schon zu sehen waren.',
      },
      events_pruned: {
        title: 'Ereignisse entfernt',
        text: 'Ereignisse, die noch nicht zu sehen waren, wurden entfernt.',
      },
      rate_limited: {
        title: 'Zu viele Anfragen',
        text: 'Zu viele Anfragen in kurzer Zeit. Bitte kurz warten.',
      },
      internal: {
        title: 'Interner Fehler',
        text: 'Im Dienst ist ein unerwarteter Fehler aufgetreten. Sein Log nennt die Ursache unter der Kennung der Anfrage.',
      },
      unavailable: { title: 'Nicht verfügbar', text: 'Die Datenbank des Dienstes ist gerade nicht verfügbar.' },
      overloaded: { title: 'Überlastet', text: 'Der Dienst hat gerade zu viele Anfragen.' },
    },
  },
}
