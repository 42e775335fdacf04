namespace Notes {
  export const folder = 'notes';
}
namespace Notes {
  export const ideas = `${folder}/ideas.txt`;
}
return await fs.read_text_file({ path: Notes.ideas });
