// Questions to the server: each answer is JSON, and an error says in words what was wrong.

export async function ask(path, parameters) {
  const query = new URLSearchParams(Object.entries(parameters ?? {}).filter(([, value]) => value != null));
  const response = await fetch(`/api/${path}?${query}`);
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error ?? response.statusText);
  return answer;
}
