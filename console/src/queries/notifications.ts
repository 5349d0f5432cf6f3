import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query'
import { send } from '../api/http.ts'
import type { Api } from '../api/types.ts'
import { request } from '../session/client.ts'

/** Where messages about the own quotas go. */

type Notifications = Api['Notifications']

const PATH = '/quota/notifications'

export function notificationsQuery() {
  return queryOptions({
    queryKey: ['notifications'],
    queryFn: ({ signal }) => request<Notifications>(PATH, { signal }),
  })
}

/** Sets the address, which is sent a link unless it is the confirmed one. */
export function useSetNotifications() {
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: (body: { email: string; language: string }) => request<Notifications>(PATH, { method: 'PUT', body }),
    // Also after an error: the address is set before its link is sent.
    onSettled: () => queryClient.invalidateQueries(notificationsQuery()),
  })
}

export function useStopNotifications() {
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: () => request<void>(PATH, { method: 'DELETE' }),
    onSettled: () => queryClient.invalidateQueries(notificationsQuery()),
  })
}

/** Does what a link is for. The link is the proof, so it needs no token. */
export function useFollowLink(what: 'confirm' | 'stop') {
  return useMutation({
    mutationFn: (code: string) => send<void>(`${PATH}/${what}`, { method: 'POST', body: { code } }, null),
  })
}
